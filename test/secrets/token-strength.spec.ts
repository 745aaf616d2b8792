import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { SecretPrefix } from '../../src/core/secrets.ts';
import { createSecrets } from '../../src/secrets/tokens.ts';
import { pick, seeded, testRounds, testSeed } from '../support/random.ts';

/*
 * Secrets as the service makes them. `KEYLEDGER_TEST_ROUNDS` is the number of secrets (200,000; a thorough run takes
 * 1,000,000), `KEYLEDGER_TEST_SEED` the seed of the samples. The secrets themselves are the system's own chance.
 */

const alphabet = Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

const randomChars = 43;

/**
 * χ² of 61 degrees of freedom is about normal with mean 61 and variance 122: 150 is eight standard deviations off,
 * and a modulo bias of a byte over 62 characters would give more than 1,000 already at 10,000 secrets.
 */
const chiSquaredMax = 150;

/** Secrets of which every single mistake is tried. */
const sampledSecrets = 20;

const chiSquared = (counts: readonly number[]): number => {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
};

const prefixes: readonly SecretPrefix[] = ['tk_', 'sab_', 'svc_'];

describe('secrets', () => {
  const secrets = createSecrets();

  it('hold at least 256 random bits', () => {
    expect(randomChars * Math.log2(alphabet.length)).to.be.at.least(256);
  });

  it('are unique, of one shape, and of characters that are all alike likely at every place', function () {
    this.timeout(120_000);
    const count = testRounds(200_000);
    const seen = new Set<string>();
    const byPlace = Array.from({ length: randomChars }, () => new Map<string, number>());
    const shape = /^tk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/;
    for (let n = 0; n < count; n += 1) {
      const { value } = secrets.fresh('tk_');
      // Half of it tells already whether two are alike, and a million halves fit into memory.
      seen.add(value.slice(3, 25));
      if (!shape.test(value)) throw new Error(`The shape of ${value} is wrong.`);
      for (const [place, counts] of byPlace.entries()) {
        const char = value[3 + place] ?? '';
        counts.set(char, (counts.get(char) ?? 0) + 1);
      }
    }
    expect(seen.size).to.equal(count);
    const of = (counts: Map<string, number>) => alphabet.map((char) => counts.get(char) ?? 0);
    for (const [place, counts] of byPlace.entries())
      expect(chiSquared(of(counts)), `place ${place}`).to.be.below(chiSquaredMax);
    const whole = alphabet.map((char) => byPlace.reduce((sum, counts) => sum + (counts.get(char) ?? 0), 0));
    expect(chiSquared(whole)).to.be.below(chiSquaredMax);
  });

  it('tell every single mistyped, missing, added or swapped character without a look-up', () => {
    const random = seeded(testSeed());
    for (const prefix of prefixes) {
      for (let n = 0; n < sampledSecrets; n += 1) {
        const { value } = secrets.fresh(prefix);
        expect(secrets.isWellFormed(prefix, value)).to.equal(true);
        for (let at = 0; at < value.length; at += 1) {
          const [before, char, after] = [value.slice(0, at), value[at] ?? '', value.slice(at + 1)];
          for (const other of [...alphabet, '_', '-', ' ', '.', 'é']) {
            if (other === char) continue;
            expect(secrets.isWellFormed(prefix, before + other + after), value).to.equal(false);
          }
          const [next = ''] = after;
          expect(secrets.isWellFormed(prefix, before + after), value).to.equal(false);
          expect(secrets.isWellFormed(prefix, before + pick(random, alphabet) + char + after)).to.equal(
            false,
          );
          if (next !== '' && next !== char)
            expect(secrets.isWellFormed(prefix, before + next + char + after.slice(1)), value).to.equal(
              false,
            );
        }
      }
    }
  });

  it('of one kind are not taken for another', () => {
    for (const prefix of prefixes) {
      const { value } = secrets.fresh(prefix);
      for (const other of prefixes) {
        expect(secrets.isWellFormed(other, value)).to.equal(other === prefix);
        const renamed = other + value.slice(prefix.length);
        if (other !== prefix) expect(secrets.isWellFormed(other, renamed)).to.equal(false);
      }
    }
  });

  it('are kept as their SHA-256 alone', () => {
    const { value, digest } = secrets.fresh('sab_');
    expect(digest).to.equal(createHash('sha256').update(value).digest('base64url'));
    expect(secrets.digest(value)).to.equal(digest);
  });
});
