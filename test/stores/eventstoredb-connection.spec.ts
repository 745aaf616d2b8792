import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { StoreUnavailable } from '../../src/core/ports.ts';
import { readConnectionString } from '../../src/stores/eventstoredb/connection-string.ts';
import { openEventStoreDb } from '../../src/stores/eventstoredb/index.ts';
import { temporaryFolder } from '../support/embedded.ts';
import { startEventStoreDouble } from '../support/eventstore-double/index.ts';
import { failure } from '../support/eventstore.ts';
import { open } from '../support/tally-events.ts';
import { until } from '../support/waiting.ts';

const hosts = (text: string): readonly string[] =>
  readConnectionString(text).hosts.map(({ address, port }) => `${address}:${port}`);

describe('the connection string of EventStoreDB', () => {
  it('names one host or several, with or without ports, in both schemes', () => {
    expect(hosts('esdb://localhost')).to.deep.equal(['localhost:2113']);
    expect(hosts('kurrentdb://db.example:2114/')).to.deep.equal(['db.example:2114']);
    expect(hosts('esdb://a,b:1,c:2?tls=true')).to.deep.equal(['a:2113', 'b:1', 'c:2']);
    expect(readConnectionString('esdb://a').discover).to.equal(false);
    expect(readConnectionString('esdb+discover://a').discover).to.equal(true);
    expect(readConnectionString('kurrentdb://a,b').discover).to.equal(true);
  });

  it('asks for TLS unless it says otherwise', () => {
    expect(readConnectionString('esdb://a').tls).to.equal(true);
    expect(readConnectionString('esdb://a?TLS=false').tls).to.equal(false);
  });

  it('gives credentials, percent-encoded where they must be', () => {
    expect(readConnectionString('esdb://admin:p%40ss%3Aw%C3%B6rd@a').credentials).to.deep.equal({
      username: 'admin',
      password: 'p@ss:wörd',
    });
    expect(readConnectionString('esdb://a').credentials).to.equal(undefined);
  });

  for (const [what, text] of [
    ['another scheme', 'mongodb://admin:sekret@a'],
    ['no host', 'esdb://'],
    ['a port that is no number', 'esdb://admin:sekret@a:x'],
    ['a user without a password', 'esdb://admin@a'],
    ['an option that is not known', 'esdb://admin:sekret@a?tsl=false'],
    ['a value that is none of the option’s', 'esdb://admin:sekret@a?tls=maybe'],
    ['an option that the client would ignore', 'esdb://admin:sekret@a?tlsVerifyCert=false'],
    ['a file that is not there', 'esdb://admin:sekret@a?tlsCaFile=/nowhere/ca.pem'],
    ['half of a client certificate', `esdb://admin:sekret@a?userCertFile=/dev/null`],
    ['credentials with a question mark', 'esdb://admin:123?sekret&x@a'],
    ['credentials that can not be decoded', 'esdb://admin:sekret%@a'],
  ] as const)
    it(`is refused in one clear line, without its secrets, where it has ${what}`, () => {
      try {
        openEventStoreDb({ connectionString: text });
      } catch (error) {
        expect(error).to.match(/^Error: The event store's connection string [^\n]+\.$/);
        // With everything that a log line would show of it.
        expect(JSON.stringify(Object.getOwnPropertyDescriptors(error))).not.to.match(/sekret/);
        return;
      }
      throw new Error('It was taken.');
    });
});

describe('the EventStoreDB adapter, over TLS and with credentials', () => {
  const user = { username: 'keyledger', password: 'p@ss:w' } as const;
  const credentials = `keyledger:${encodeURIComponent(user.password)}@`;

  it('trusts the authority it is told, and nobody else; calls as who it is told, and says when that is denied', async () => {
    const { dir, remove } = await temporaryFolder();
    const [keyFile, certificateFile] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
    const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
    const how = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost`;
    const args = [...how.split(' '), '-addext', names, '-keyout', keyFile, '-out', certificateFile];
    execFileSync('openssl', args, { stdio: 'ignore' });
    const tls = { key: readFileSync(keyFile), certificate: readFileSync(certificateFile) };
    const double = await startEventStoreDouble({ tls, user });
    const to = (who: string, options: string): ReturnType<typeof openEventStoreDb> =>
      openEventStoreDb({ connectionString: `esdb://${who}localhost:${double.port}?${options}` });
    const ca = `tlsCaFile=${encodeURIComponent(certificateFile)}`;
    const right = to(credentials, ca);
    const wrong = to('keyledger:guess@', ca);
    const nobody = to('', ca);
    const untrusting = to(credentials, 'tls=true');
    expect(await right.events.append(open('tally-1'))).to.have.property('appended', true);
    expect(await right.events.readStream('tally-1')).to.have.length(1);
    await until('it is ready', () => right.health().ready);
    for (const store of [wrong, nobody, untrusting]) {
      const error = await failure(store.events.append(open('tally-2')));
      expect(error).to.be.an.instanceOf(StoreUnavailable);
      if (store !== untrusting) expect(error).to.match(/denies access/);
      expect(await failure(store.events.readStream('tally-1'))).to.be.an.instanceOf(StoreUnavailable);
      expect(store.health()).to.have.property('ready', false);
    }
    expect(double.held('tally-2')).to.deep.equal([]);
    for (const store of [right, wrong, nobody, untrusting]) await store.close();
    await double.close();
    await remove();
  }).timeout(30_000);
});
