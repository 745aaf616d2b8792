import { expect } from 'chai';
import { createSignInThrottle, type Try } from '../../src/http/sign-in-throttle.ts';
import { networkOf } from '../../src/http/client-address.ts';
import { createHandClock } from '../support/hand-clock.ts';

const minuteMs = 60_000;
const here = '198.51.100.1';
const there = '203.0.113.9';
const alice = 'acme/alice';

const arrange = () => {
  const clock = createHandClock(1_000_000);
  const { begin } = createSignInThrottle(clock.wallMs);
  /** The seconds that a try would have to wait; 0 where it may be made, and then it is as if it had not been. */
  const waitOf = (address: string | null, account: string): number => {
    const attempt = begin(address, account);
    if ('waitSecs' in attempt) return attempt.waitSecs;
    attempt.abandoned();
    return 0;
  };
  const tryNow = (address: string | null, account: string): Try => {
    const attempt = begin(address, account);
    if ('waitSecs' in attempt) throw new Error(`It has to wait ${attempt.waitSecs} s.`);
    return attempt;
  };
  const fail = (address: string | null, account: string, times = 1): void => {
    for (let n = 0; n < times; n++) tryNow(address, account).failed();
  };
  /** Fails once more each time that it may, and answers the waits in between. */
  const waitsOf = (account: (n: number) => string, times: number): number[] =>
    Array.from({ length: times }, (_, n) => {
      const waitSecs = waitOf(here, account(n));
      clock.pass(waitSecs * 1_000 - 1);
      expect(waitOf(here, account(n))).to.equal(1);
      clock.pass(1);
      fail(here, account(n));
      return waitSecs;
    });
  return { clock, begin, waitOf, tryNow, fail, waitsOf };
};

describe('sign-ins that fail', () => {
  it('are free five times, and then wait twice as long each time, up to 15 minutes', () => {
    const { fail, waitsOf } = arrange();
    fail(here, alice, 5);
    expect(waitsOf(() => alice, 12)).to.deep.equal([2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  it('wait up to a minute where each is of another account, from one address', () => {
    const { fail, waitsOf } = arrange();
    for (let n = 0; n < 5; n++) fail(here, `acme/user-${n}`);
    expect(waitsOf((n) => `acme/other-${n}`, 9)).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it('never have the same account wait at another address, however many there were', () => {
    const { clock, fail, waitOf, waitsOf } = arrange();
    fail(here, alice, 5);
    waitsOf(() => alice, 10);
    clock.pass(1);
    expect(waitOf(here, alice)).to.equal(900);
    expect(waitOf(there, alice)).to.equal(0);
  });

  it('count for one account in whatever case it is typed', () => {
    const { fail, waitOf } = arrange();
    for (const typed of ['acme/alice', 'ACME/Alice', 'acme/ALICE', 'Acme/alice', 'acme/aLICE'])
      fail(here, typed);
    expect(waitOf(here, 'acMe/alicE')).to.equal(2);
    expect(waitOf(here, 'acme/bob')).to.equal(1);
  });

  it('count for 15 minutes each, where there are fewer than five', () => {
    const { clock, fail, waitOf } = arrange();
    fail(here, alice, 4);
    clock.pass(15 * minuteMs);
    fail(here, alice);
    expect(waitOf(here, alice)).to.equal(0);
    clock.pass(5 * minuteMs);
    fail(here, alice, 3);
    expect(waitOf(here, alice)).to.equal(0);
    clock.pass(10 * minuteMs - 1);
    fail(here, alice);
    expect(waitOf(here, alice)).to.equal(2);
  });

  it('are forgotten when it was quiet for 15 minutes after the wait, and not before', () => {
    const { clock, fail, waitOf } = arrange();
    fail(here, alice, 5);
    clock.pass(2_000 + 15 * minuteMs - 1);
    fail(here, alice);
    expect(waitOf(here, alice)).to.equal(4);
    clock.pass(4_000 + 15 * minuteMs);
    fail(here, alice, 4);
    expect(waitOf(here, alice)).to.equal(0);
  });

  it('that are refused make no wait longer', () => {
    const { clock, begin, fail, waitOf } = arrange();
    fail(here, alice, 5);
    for (let n = 0; n < 1_000; n++) expect(begin(here, alice)).to.deep.equal({ waitSecs: 2 });
    clock.pass(1_500);
    expect(begin(here, alice)).to.deep.equal({ waitSecs: 1 });
    clock.pass(500);
    expect(waitOf(here, alice)).to.equal(0);
  });

  it('are five of a hundred at once of one account, and of all as many as are looked at together', () => {
    for (const [account, most] of [
      [() => alice, 5],
      [(n: number) => `acme/user-${n}`, 32],
    ] as const) {
      const { begin } = arrange();
      const attempts = Array.from({ length: 100 }, (_, n) => begin(here, account(n)));
      expect(attempts.filter((it) => !('waitSecs' in it))).to.have.length(most);
    }
  });

  it('are not those who come at the same time from one address, and are all right', () => {
    const { tryNow, waitOf } = arrange();
    const attempts = Array.from({ length: 20 }, (_, n) => tryNow(here, `acme/user-${n}`));
    for (const attempt of attempts) attempt.succeeded();
    expect(waitOf(here, 'acme/user-20')).to.equal(0);
  });

  it('wait from when the password was found wrong, however long that took', () => {
    const { clock, fail, tryNow, waitOf } = arrange();
    fail(here, alice, 4);
    const slow = tryNow(here, alice);
    clock.pass(10_000);
    slow.failed();
    expect(waitOf(here, alice)).to.equal(2);
  });

  it('count also where nobody says how they ended', () => {
    const { tryNow, waitOf } = arrange();
    for (let n = 0; n < 5; n++) tryNow(here, alice);
    expect(waitOf(here, alice)).to.equal(2);
  });

  it('do not count where nobody looked at the password', () => {
    const { tryNow, waitOf } = arrange();
    for (let n = 0; n < 100; n++) tryNow(here, alice).abandoned();
    expect(waitOf(here, alice)).to.equal(0);
  });

  it('end once, as they first did', () => {
    const { fail, tryNow, waitOf } = arrange();
    fail(here, alice, 4);
    const last = tryNow(here, alice);
    last.failed();
    last.abandoned();
    last.succeeded();
    last.failed();
    expect(waitOf(here, alice)).to.equal(2);
  });

  it('count for an address that is not known as for any other', () => {
    const { fail, waitOf } = arrange();
    fail(null, alice, 5);
    expect(waitOf(null, alice)).to.equal(2);
    expect(waitOf(here, alice)).to.equal(0);
  });
});

describe('a sign-in that succeeds', () => {
  it('ends the account’s count at its address, and leaves the address its own', () => {
    const { clock, fail, tryNow, waitOf } = arrange();
    fail(here, alice, 5);
    fail(there, alice, 5);
    clock.pass(2_000);
    tryNow(here, alice).succeeded();
    // Five failures stand for the address, and its wait of a second is over.
    expect(waitOf(here, alice)).to.equal(0);
    fail(here, alice);
    expect(waitOf(here, alice)).to.equal(2);
    clock.pass(2_000);
    fail(there, alice);
    expect(waitOf(there, alice)).to.equal(4);
  });

  it('counts as no failure, however many there are from one address', () => {
    const { tryNow, waitOf } = arrange();
    for (let n = 0; n < 1_000; n++) tryNow(here, `acme/user-${n}`).succeeded();
    expect(waitOf(here, alice)).to.equal(0);
  });
});

describe('the network of an address', () => {
  for (const [address, network] of [
    ['198.51.100.1', '198.51.100.1'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['::FFFF:c633:6401', '198.51.100.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::192.0.2.1', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['nothing', 'nothing'],
  ] as const) {
    it(`is an IPv4 address whole, and the /64 of an IPv6 address: ${address}`, () => {
      expect(networkOf(address)).to.equal(network);
    });
  }

  it('is what sign-ins count by', () => {
    const { fail, waitOf } = arrange();
    for (let n = 1; n <= 5; n++) fail(`2001:db8:1:2::${n}`, alice);
    expect(waitOf('2001:db8:1:2:ffff::', alice)).to.equal(2);
    expect(waitOf('2001:db8:1:3::1', alice)).to.equal(0);
  });
});

describe('the memory of failed sign-ins', () => {
  it('is bounded: the oldest is forgotten, and nobody is refused for want of room', () => {
    const { clock, fail, waitOf } = arrange();
    fail(here, alice, 5);
    for (let n = 0; n < 60_000; n++) fail(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, `acme/user-${n}`);
    clock.pass(1);
    expect(waitOf(here, alice)).to.equal(0);
  }).timeout(20_000);

  it('keeps those that are tried, whatever else is', () => {
    const { fail, waitOf } = arrange();
    fail(here, alice, 5);
    for (let n = 0; n < 60_000; n++) {
      fail(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 'x'.repeat(10_000));
      if (n % 10_000 === 0) expect(waitOf(here, alice)).to.equal(2);
    }
    expect(waitOf(here, alice)).to.equal(2);
  }).timeout(20_000);
});
