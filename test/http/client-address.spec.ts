import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createClientAddress, isSecure } from '../../src/http/client-address.ts';

type Sent = {
  readonly from?: string;
  readonly forwarded?: string;
  readonly proto?: string;
  readonly encrypted?: true;
};

/** The part of a request that says where it came from; `from` is the other end of its connection. */
const sent = ({ from, forwarded, proto, encrypted }: Sent): IncomingMessage =>
  ({
    socket: { remoteAddress: from, encrypted },
    headers: { 'x-forwarded-for': forwarded, 'x-forwarded-proto': proto },
  }) as unknown as IncomingMessage;

/** The header as it is behind so many proxies. */
const listed = (proxies: number): string => `198.51.100.1${',10.1.2.3'.repeat(proxies)}`;

describe('the address of a client', () => {
  const direct = createClientAddress([]);
  const proxied = createClientAddress(['loopback', '10.0.0.0/8', '2001:db8::/32', '192.0.2.7']);

  it('is the connection’s own where no proxy is trusted, whatever was forwarded', () => {
    expect(direct(sent({ from: '127.0.0.1', forwarded: '198.51.100.1' }))).to.equal('127.0.0.1');
    expect(direct(sent({ from: '::1' }))).to.equal('::1');
  });

  it('is the connection’s own where that comes from no trusted proxy', () => {
    expect(proxied(sent({ from: '203.0.113.5', forwarded: '198.51.100.1' }))).to.equal('203.0.113.5');
    expect(proxied(sent({ from: '203.0.113.5' }))).to.equal('203.0.113.5');
    expect(proxied(sent({ from: '127.0.0.1' }))).to.equal('127.0.0.1');
  });

  for (const [forwarded, address] of [
    ['198.51.100.1', '198.51.100.1'],
    // What stands left of an address that is no proxy's was written by whoever is there.
    ['192.0.2.99, 198.51.100.1', '198.51.100.1'],
    ['192.0.2.99, 198.51.100.1, 10.1.2.3', '198.51.100.1'],
    ['198.51.100.1,10.1.2.3,192.0.2.7', '198.51.100.1'],
    ['2001:db9::1, 2001:db8::5', '2001:db9::1'],
    ['::ffff:198.51.100.1, ::ffff:10.1.2.3', '::ffff:198.51.100.1'],
    // Where all are proxies it is the first of them.
    ['10.9.9.9, 10.1.2.3', '10.9.9.9'],
  ] as const) {
    it(`is the right-most that is no trusted proxy’s: ${forwarded}`, () => {
      for (const from of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1'])
        expect(proxied(sent({ from, forwarded }))).to.equal(address);
    });
  }

  for (const forwarded of [
    '',
    ' , ,, ',
    'unknown',
    '198.51.100.1:4711',
    '[2001:db9::1]:443',
    '198.51.100.1, <script>',
    '198.51.100.1, 10.1.2.3, "admin"',
    'fe80::1%eth0',
    '10',
    '127.1',
    '0x7f.1',
    '198.51.100.999',
    '198.51.100.1, 127.1',
    '198.51.100.1 198.51.100.2',
    '\u0000',
    'a'.repeat(16_000),
  ]) {
    it(`is the connection’s own where what is forwarded is no address: ${JSON.stringify(forwarded.slice(0, 40))}`, () => {
      expect(proxied(sent({ from: '127.0.0.1', forwarded }))).to.equal('127.0.0.1');
    });
  }

  it('is looked for in no more than so many proxies, however many are listed', () => {
    expect(proxied(sent({ from: '127.0.0.1', forwarded: listed(20) }))).to.equal('198.51.100.1');
    expect(proxied(sent({ from: '127.0.0.1', forwarded: listed(40) }))).to.equal('10.1.2.3');
    expect(proxied(sent({ from: '127.0.0.1', forwarded: listed(100_000) }))).to.equal('10.1.2.3');
  });

  it('is none where the connection has ended', () => {
    expect(direct(sent({}))).to.equal(null);
    expect(proxied(sent({ forwarded: '198.51.100.1' }))).to.equal(null);
  });

  it('needs proxies that can be told', () => {
    expect(() => createClientAddress(['nobody'])).to.throw(TypeError);
  });
});

describe('whether a client is there over TLS', () => {
  it('is so where the connection is encrypted, or the proxy next to the client says so', () => {
    expect(isSecure(sent({ encrypted: true }))).to.equal(true);
    expect(isSecure(sent({ encrypted: true, proto: 'http' }))).to.equal(true);
    for (const proto of ['https', 'HTTPS', ' https , http', 'https,http'])
      expect(isSecure(sent({ proto })), proto).to.equal(true);
  });

  it('is not so else', () => {
    expect(isSecure(sent({}))).to.equal(false);
    for (const proto of ['', 'http', 'http, https', 'httpsx', ',https', 'wss', 'x'.repeat(16_000)])
      expect(isSecure(sent({ proto })), proto.slice(0, 20)).to.equal(false);
  });
});
