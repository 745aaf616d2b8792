import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BadConfig, readConfig } from '../src/config.ts';
import { freshFolder, removeFolder } from './support/program.ts';

const faultsOf = (env: NodeJS.ProcessEnv, path?: string): readonly string[] => {
  try {
    readConfig(env, path);
  } catch (error) {
    if (error instanceof BadConfig) return error.faults;
    throw error;
  }
  return [];
};

const proxies = (text: string): readonly string[] =>
  readConfig({ SERVICE_TRUSTED_PROXIES: text }).config.trusted_proxies;

describe('the configuration', () => {
  const dir = freshFolder();
  after(() => removeFolder(dir));
  const file = (name: string, text: string): string => {
    const path = join(dir, name);
    writeFileSync(path, text);
    return path;
  };

  it('has a default for everything but the tokens', () => {
    expect(readConfig({}).config).to.deep.equal({
      host: '127.0.0.1',
      port: 8080,
      data_dir: './data',
      event_store: 'embedded',
      read_models: 'embedded',
      trusted_proxies: [],
      checkpoint_events: 1_000,
      checkpoint_minutes: 5,
      log_level: 'info',
    });
  });

  it('takes the environment before the file, and the file before the defaults', () => {
    const path = file('a.yaml', 'port: 1111\nhost: 0.0.0.0\nadmin_token: from-the-file-from-the-file-from\n');
    const { config } = readConfig({ SERVICE_CONFIG: path, SERVICE_PORT: '2222' });
    expect(config).to.include({
      port: 2222,
      host: '0.0.0.0',
      admin_token: 'from-the-file-from-the-file-from',
    });
  });

  it('takes the file that the command line names before the one of the environment', () => {
    const named = file('named.yaml', 'port: 3333\n');
    expect(readConfig({ SERVICE_CONFIG: join(dir, 'absent.yaml') }, named).config.port).to.equal(3333);
  });

  it('reads a secret from the file that <NAME>_FILE names, without the line end', () => {
    const path = file('token', 'a-token-from-a-file-of-its-own-0123\n');
    const { config } = readConfig({ SERVICE_CP_ADMIN_TOKEN_FILE: path });
    expect(config.admin_token).to.equal('a-token-from-a-file-of-its-own-0123');
  });

  it('refuses a secret that is given twice', () => {
    const path = file('twice', 'x'.repeat(32));
    const faults = faultsOf({ SERVICE_CP_ADMIN_TOKEN: 'y'.repeat(32), SERVICE_CP_ADMIN_TOKEN_FILE: path });
    expect(faults).to.deep.equal(['SERVICE_CP_ADMIN_TOKEN and SERVICE_CP_ADMIN_TOKEN_FILE are both set']);
  });

  it('names every fault in a line of its own, and no value', () => {
    const faults = faultsOf({
      SERVICE_PORT: 'eighty',
      SERVICE_LOG_LEVEL: 'loud',
      SERVICE_CP_ADMIN_TOKEN: 'a secret with spaces',
    });
    expect(faults).to.have.length(3);
    expect(faults.join('\n'))
      .to.match(/port \(SERVICE_PORT\)/)
      .and.match(/log_level/)
      .and.match(/admin_token/);
    expect(faults.join('\n')).not.to.contain('a secret');
  });

  it('names the faults of all its sources at once', () => {
    const faults = faultsOf({
      SERVICE_CP_ADMIN_TOKEN_FILE: join(dir, 'absent'),
      SERVICE_PORT: 'x',
      SERVICE_CONFIG: join(dir, 'absent.yaml'),
    });
    expect(faults).to.have.length(3);
  });

  for (const text of [
    `admin_token: ${'1234567890'.repeat(4)}\n`,
    'port:\n',
    'port: true\n',
    'port: "0x10"\n',
    'port: 70000\n',
  ]) {
    it(`refuses what YAML takes for something else: ${text.trim()}`, () => {
      expect(faultsOf({}, file('odd.yaml', text))).to.have.length(1);
    });
  }

  it('takes connection strings of the engines, and refuses what is none without telling it', () => {
    const servers = {
      SERVICE_EVENT_STORE: 'kurrentdb+discover://ops:secret@one,two:2113?tls=true',
      SERVICE_READ_MODELS: 'mongodb://ops:secret@one/ledger?replicaSet=rs0',
    };
    expect(readConfig(servers).config).to.include({
      event_store: servers.SERVICE_EVENT_STORE,
      read_models: servers.SERVICE_READ_MODELS,
    });
    expect(readConfig({ ...servers, SERVICE_READ_MODELS: 'embedded' }).config.read_models).to.equal(
      'embedded',
    );
    const faults = faultsOf({
      SERVICE_EVENT_STORE: 'postgres://ops:secret@one',
      SERVICE_READ_MODELS: 'ops:secret',
    });
    expect(faults).to.have.length(2);
    expect(faults.join()).not.to.contain('secret');
  });

  it('takes trusted proxies as addresses, blocks and names, from the environment and from the file', () => {
    expect(proxies('127.0.0.1')).to.deep.equal(['127.0.0.1']);
    expect(proxies(' loopback , 10.0.0.0/8,2001:db8::/32, uniquelocal,linklocal ')).to.deep.equal([
      'loopback',
      '10.0.0.0/8',
      '2001:db8::/32',
      'uniquelocal',
      'linklocal',
    ]);
    expect(proxies('')).to.deep.equal([]);
    const path = file('proxies.yaml', 'trusted_proxies: 192.0.2.1, loopback\n');
    expect(readConfig({}, path).config.trusted_proxies).to.deep.equal(['192.0.2.1', 'loopback']);
  });

  for (const text of [
    'proxy.example',
    'loopback,,10.0.0.1',
    '10.0.0.1;10.0.0.2',
    '10',
    '127.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '0.0.0.0/0',
    '10.0.0.0/8/8',
    '::/129',
    'fe80::1%eth0',
    'all',
    'constructor',
    Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`).join(),
  ]) {
    it(`refuses trusted proxies that are none, in one line: ${text.slice(0, 30)}`, () => {
      const faults = faultsOf({ SERVICE_TRUSTED_PROXIES: text });
      expect(faults).to.have.length(1);
      expect(faults[0]).to.match(/^trusted_proxies \(SERVICE_TRUSTED_PROXIES\): must [^\n]+$/);
      expect(faults[0]).not.to.contain(text);
    });
  }

  it('refuses remote read models of a log on one machine', () => {
    const faults = faultsOf({ SERVICE_READ_MODELS: 'mongodb://ops:secret@one' });
    expect(faults).to.have.length(1);
    expect(faults[0]).to.match(/^read_models \(SERVICE_READ_MODELS\): must be `embedded`/);
  });

  it('takes a port that YAML reads as a number, and an empty name of a file for none', () => {
    expect(readConfig({ SERVICE_CONFIG: '' }).config.port).to.equal(8080);
    expect(readConfig({}, file('port.yaml', 'port: 0\n')).config.port).to.equal(0);
  });

  it('refuses a setting that there is not', () => {
    expect(faultsOf({}, file('typo.yaml', 'admin_tokn: x\n'))).to.deep.equal([
      'admin_tokn: there is no such setting',
    ]);
  });

  for (const [what, text] of [
    ['is not well-formed YAML', 'a: [1\n'],
    ['is a list', '- a\n'],
  ] as const) {
    it(`refuses a file that ${what}`, () => {
      expect(faultsOf({}, file('bad.yaml', text))).to.have.length(1);
    });
  }

  it('refuses a file that is not there', () => {
    expect(faultsOf({}, join(dir, 'absent.yaml'))[0]).to.match(/cannot read .*ENOENT/);
  });

  it('warns of a short admin token and of none', () => {
    expect(readConfig({ SERVICE_CP_ADMIN_TOKEN: 'short' }).warnings[0]).to.match(/shorter than 32/);
    expect(readConfig({}).warnings[0]).to.match(/Admin API is off/);
    expect(readConfig({ SERVICE_CP_ADMIN_TOKEN: 'x'.repeat(32) }).warnings).to.deep.equal([]);
  });
});
