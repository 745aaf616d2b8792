import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { BadSignature, createSigner, openNote, readVerifierKey } from '../../src/proofs/signed-note.ts';

/** The example of the Go package golang.org/x/mod/sumdb/note: a key, and a note that is signed with it. */
const others = {
  seed: 'gQoUAtUUbI2E8kQzMPVAgOv5juF9nHT2JS/F1ccoMXM=',
  key: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
  signature:
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
};
const note = `${others.text}\n${others.signature}`;

/** A private key of 32 bytes in its usual form (RFC 8410). */
const pemOf = (seed: string): string => {
  const der = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from(seed, 'base64'),
  ]);
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
};

const pem = (type: 'ed25519' | 'x25519' = 'ed25519'): string =>
  generateKeyPairSync(type as 'ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;

describe('a signed note', () => {
  it('is read and written as other programs read and write it', () => {
    const signer = createSigner('PeterNeumann', pemOf(others.seed));
    expect(signer.key.text).to.equal(others.key);
    expect(signer.sign(others.text)).to.equal(note);
    const opened = openNote(note, [readVerifierKey(others.key)]);
    expect(opened.text).to.equal(others.text);
    expect(opened.key.id).to.equal('c74f20a3');
  });

  it('is refused where any one byte of it is another', () => {
    const key = readVerifierKey(others.key);
    const bytes = Buffer.from(note);
    for (const [at, byte] of bytes.entries()) {
      const other = Buffer.from(bytes);
      other[at] = byte ^ 1;
      expect(() => openNote(other.toString(), [key]), `byte ${at}`).to.throw(BadSignature);
    }
  });

  it('passes over the signatures of others, and insists on one of the keys that are given', () => {
    const mine = createSigner('keyledger', pem());
    const both = note + mine.sign(others.text).slice(others.text.length + 1);
    expect(openNote(both, [mine.key]).key.name).to.equal('keyledger');
    expect(openNote(both, [readVerifierKey(others.key)]).key.name).to.equal('PeterNeumann');
    expect(() => openNote(note, [mine.key])).to.throw(BadSignature, /not signed with the key/);
    const renamed = createSigner('PeterNeumann', pem());
    expect(() => openNote(note, [renamed.key])).to.throw(BadSignature, /not signed with the key/);
  });

  it('is refused where it is no note', () => {
    for (const text of ['', 'text\n', 'text\n\n', 'text\n\nsigned\n', note.slice(0, -1)])
      expect(() => openNote(text, [readVerifierKey(others.key)]), JSON.stringify(text)).to.throw(
        BadSignature,
        /not a signed note/,
      );
  });
});

describe('a key', () => {
  it('is refused where a character is wrong', () => {
    for (const text of ['', 'PeterNeumann', others.key.replace('c74f', 'c74e'), others.key.slice(0, -2)])
      expect(() => readVerifierKey(text), text).to.throw(BadSignature);
    expect(readVerifierKey(`${others.key}\n`).name).to.equal('PeterNeumann');
  });

  it('is refused where it is of another kind, without a word of it', () => {
    for (const text of [pem('x25519'), 'secret words'])
      expect(() => createSigner('keyledger', text)).to.throw(BadSignature, /^The key is not [^:]*$/);
  });
});
