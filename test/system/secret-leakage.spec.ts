import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient, type Answer, type Ask, type Client } from '../support/client.ts';
import { freshFolder, removeFolder, startProgram, type Program } from '../support/program.ts';
import { exchange } from '../support/raw-socket.ts';

const admin = 'canary-admin-token-Zq8vX2mN5kP7rT1w';
const previous = 'canary-previous-token-Lw3yB6hJ9dF4sG0c';
const verifier = 'canary-verifier-token-Mx7uC1aK8eR5tY2i';
const password = 'canary-password-Uj4nV9bH6gQ3zE0o';
/** Sent where it is refused: too long, of the wrong type, beside a wrong member. */
const refusedPassword = 'canary-refused-Wp5kD8xS2fA7lI1m';

/** A secret in the forms in which it could be written down. */
const formsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -4),
    bytes.toString('base64url').slice(0, -4),
  ];
};

/** What may be kept of a secret, and must never be shown. */
const digestsOf = (secret: string): readonly string[] =>
  (['hex', 'base64', 'base64url'] as const).map((form) => createHash('sha256').update(secret).digest(form));

const argon2Hash = /\$argon2/;

const filesOf = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('secrets', () => {
  let program: Program;
  let client: Client;
  const dir = freshFolder();
  /** Every answer but those that give a secret out, which they may once. */
  const shown: string[] = [];
  const secrets = [admin, previous, verifier, password, refusedPassword];
  let files: readonly string[] = [];
  let contents = '';
  let metrics = '';

  const keep = (answer: Answer): Answer => {
    shown.push(answer.text + JSON.stringify([...answer.headers]));
    return answer;
  };

  const ask = async (method: string, path: string, more: Ask = {}): Promise<Answer> =>
    keep(await client(method, path, { token: admin, ...more }));

  /** An answer that gives a secret out: the secret is kept as one to be looked for, the rest as shown. */
  const create = async (
    method: string,
    path: string,
    secret: string,
    more: Ask,
  ): Promise<Record<string, string>> => {
    const answer = await client(method, path, { token: admin, ...more });
    const { [secret]: value = '', ...rest } = answer.body as Record<string, string>;
    expect(value, answer.text).to.match(/^(sab|tk)_/);
    secrets.push(value);
    shown.push(JSON.stringify([rest, [...answer.headers]]));
    return answer.body as Record<string, string>;
  };

  const useEverything = async (): Promise<void> => {
    await ask('POST', '/admin/v1/tenants', { body: { id: 'acme' } });
    const users = '/admin/v1/tenants/acme/users';
    await ask('POST', users, { body: { username: 'alice', password } });
    await ask('POST', users, { body: { username: 'alice', password } });
    const body = { name: 'canary', tenant_id: 'acme', max_role: 'admin', max_ttl_secs: 60 };
    const account = await create('POST', '/admin/v1/service-accounts', 'bearer', { body });
    const rotate = `/admin/v1/service-accounts/${account['id']}/rotate`;
    const rotated = await create('POST', rotate, 'bearer', { body: { grace_secs: 60 } });
    const tokens = '/admin/v1/tenants/acme/tokens';
    for (const token of [account['bearer'] ?? '', rotated['bearer'] ?? '']) {
      const wish = { subject: 'canary', role: 'reader', ttl_secs: 60 };
      const minted = await create('POST', tokens, 'password', { token, body: wish });
      const { username = '', password: secret = '' } = minted;
      const look = '/admin/v1/tenants/acme/authenticate';
      for (const pair of [
        { username, password: secret },
        { username, password: `${secret.slice(0, -1)}!` },
        { username: 'alice', password },
        { username: 'nobody', password },
      ])
        for (const who of [admin, previous, verifier]) await ask('POST', look, { token: who, body: pair });
      for (const who of [token, admin]) await ask('GET', tokens, { token: who });
      await ask('DELETE', `${tokens}/${username}`, { token });
    }
    for (const path of [users, `${users}/alice`, '/admin/v1/service-accounts', '/admin/v1/projections'])
      await ask('GET', path);
    await ask('POST', '/admin/v1/projections/credentials/rebuild');
  };

  /** Secrets where they do not belong, and requests that are refused with a secret in them. */
  const misuseEverything = async (): Promise<void> => {
    const users = '/admin/v1/tenants/acme/users';
    const wrong: readonly unknown[] = [
      `{"username":"bob","password":"${refusedPassword}"`,
      `{"username":"bob","password":"${refusedPassword}"}}`,
      `{"username":"bob","password":"${refusedPassword}","__proto__":1}`,
      { username: 'bob', password: [refusedPassword] },
      { username: 'bob', password: { value: refusedPassword } },
      { username: 'bob', password: refusedPassword.repeat(100) },
      { username: 'bob', password: refusedPassword, role: 'owner' },
      { username: 'b b', password: refusedPassword, extra: refusedPassword },
      { username: `${refusedPassword}!`, password: 'a password' },
      refusedPassword,
    ];
    for (const body of wrong) {
      await ask('POST', users, { body });
      await ask('POST', '/admin/v1/tenants/acme/authenticate', { body });
      await ask('POST', users, { body, headers: { 'Content-Type': 'text/plain' } });
    }
    for (const secret of secrets) {
      for (const scheme of ['Bearer', 'Basic', '']) {
        const headers = { Authorization: `${scheme} ${secret}x` };
        keep(await client('GET', '/admin/v1/tenants', { token: null, headers }));
      }
      keep(await client('GET', '/admin/v1/tenants', { token: null, headers: { 'X-API-Key': secret } }));
      // The caller knows what it wrote into the address; the log and the metrics must not.
      for (const path of [
        `/${secret}`,
        `/admin/v1/tenants/${secret}`,
        `/healthz?token=${secret}`,
        `/admin/v1/tenants?a=${secret}`,
      ])
        await client('GET', path, { token: admin });
      await exchange(program.port, `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\0\r\n\r\n`);
    }
  };

  before(async () => {
    program = await startProgram({
      dir,
      env: {
        SERVICE_CP_ADMIN_TOKEN: admin,
        SERVICE_CP_ADMIN_TOKEN_PREVIOUS: previous,
        SERVICE_CP_VERIFIER_TOKEN: verifier,
        SERVICE_LOG_LEVEL: 'trace',
      },
    });
    client = createClient(program.url);
    await useEverything();
    await misuseEverything();
    metrics = (await client('GET', '/metrics')).text;
    files = filesOf(dir);
    contents = files.map((file) => readFileSync(file, 'latin1')).join('\n');
    await program.stop();
    contents += filesOf(dir)
      .map((file) => readFileSync(file, 'latin1'))
      .join('\n');
  });
  after(async () => {
    await program.kill();
    removeFolder(dir);
  });

  const expectNone = (text: string, where: string): void => {
    for (const secret of secrets)
      for (const form of formsOf(secret)) expect(text.includes(form), `${form} in ${where}`).to.equal(false);
  };
  const expectNoDigest = (text: string, where: string): void => {
    for (const secret of secrets)
      for (const digest of digestsOf(secret))
        expect(text.includes(digest), `${digest} in ${where}`).to.equal(false);
    expect(text, where).to.not.match(argon2Hash);
  };

  it('were made and looked for: two bearers, two credentials, five of the operator and a user', () => {
    expect(secrets).to.have.length(9);
    expect(shown.length).to.be.above(80);
  });

  it('are on the disk only as digests and hashes', () => {
    expectNone(contents, 'the data folder');
    const minted = secrets.filter((secret) => /^(sab|tk)_/.test(secret));
    for (const secret of minted) expect(contents).to.contain(digestsOf(secret)[2]);
    expect(contents).to.match(argon2Hash);
    expect(contents).to.contain('CredentialMinted');
  });

  it('and their digests are in no line of the log, however chatty', () => {
    expect(program.output().split('\n').length).to.be.above(100);
    expectNone(program.output(), 'the output');
    expectNoDigest(program.output(), 'the output');
  });

  it('and their digests are in no metric', () => {
    expect(metrics).to.contain('authentications_total');
    expectNone(metrics, 'the metrics');
    expectNoDigest(metrics, 'the metrics');
  });

  it('and their digests are in no answer but the one that gives them out', () => {
    for (const text of shown) {
      expectNone(text, 'an answer');
      expectNoDigest(text, 'an answer');
    }
  });
});
