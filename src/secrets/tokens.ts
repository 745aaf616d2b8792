import { hash, randomFillSync, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { v7 } from 'uuid';
import type { Secrets } from '../core/secrets.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 characters of 62 are 256.03 bits. */
const randomChars = 43;

/** 6 characters of 62 hold 35.7 bits, more than the 32 of CRC-32. */
const checksumChars = 6;

const poolBytes = 4_096;

/** Bytes of the operating system's random source, fetched many at a time: a call for each secret would cost ten times as much. */
const createRandomBytes = (): ((count: number) => Uint8Array) => {
  const pool = Buffer.alloc(poolBytes);
  let used = poolBytes;
  return (count) => {
    if (used + count > poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = Uint8Array.from(pool.subarray(used, used + count));
    // What has become part of a secret does not stay in memory here.
    pool.fill(0, used, used + count);
    used += count;
    return bytes;
  };
};

/** Random characters without modulo bias: of a byte's low 6 bits, 62 and 63 are thrown away. */
const randomText = (randomBytes: (count: number) => Uint8Array, chars: number): string => {
  let text = '';
  while (text.length < chars) {
    for (const byte of randomBytes(chars - text.length)) text += alphabet[byte & 63] ?? '';
  }
  return text;
};

/** CRC-32 (ISO 3309, as zlib has it) of the text in base62, zero-padded. */
const checksum = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let at = 0; at < checksumChars; at += 1) {
    digits = (alphabet[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

const digest = (text: string): string => hash('sha256', text, 'base64url');

const fingerprintChars = 8;

/** Machine secrets from the operating system's random source. */
export const createSecrets = (): Secrets => {
  const randomBytes = createRandomBytes();
  const newUuid = (): string => v7({ rng: () => randomBytes(16) });
  return {
    fresh: (prefix) => {
      const random = randomText(randomBytes, randomChars);
      const value = prefix + random + checksum(prefix + random);
      return { value, digest: digest(value) };
    },
    isWellFormed: (prefix, text) =>
      text.length === prefix.length + randomChars + checksumChars &&
      text.startsWith(prefix) &&
      checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars),
    digest,
    fingerprint: (of) => hash('sha256', of, 'hex').slice(0, fingerprintChars),
    isSame: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
    newId: (prefix) => (prefix === undefined ? newUuid() : prefix + newUuid().replaceAll('-', '')),
  };
};
