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

/** Random characters without modulo bias: of a byte's low 6 bits, 62 and 63 are thrown away. */
const createRandomText = (): ((chars: number) => string) => {
  const pool = Buffer.alloc(poolBytes);
  let used = poolBytes;
  const nextByte = (): number => {
    if (used === poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    const byte = pool[used] ?? 0;
    // What has become part of a secret does not stay in memory here.
    pool[used] = 0;
    used += 1;
    return byte;
  };
  return (chars) => {
    let text = '';
    while (text.length < chars) text += alphabet[nextByte() & 63] ?? '';
    return text;
  };
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

/** Machine secrets from the operating system's random source. */
export const createSecrets = (): Secrets => {
  const randomText = createRandomText();
  return {
    fresh: (prefix) => {
      const random = randomText(randomChars);
      const value = prefix + random + checksum(prefix + random);
      return { value, digest: digest(value) };
    },
    isWellFormed: (prefix, text) =>
      text.length === prefix.length + randomChars + checksumChars &&
      text.startsWith(prefix) &&
      checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars),
    digest,
    isSame: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
    newId: (prefix) => (prefix === undefined ? v7() : prefix + v7().replaceAll('-', '')),
  };
};
