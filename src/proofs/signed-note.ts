import { createPrivateKey, createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';

/**
 * Signed notes (C2SP signed-note): text that ends in a newline, an empty line, and a line for each signature. Keys are
 * Ed25519 (RFC 8032), named, and written as `<name>+<id>+<key>`, so that any tool of the field reads them.
 */

/** The only kind of signature here: Ed25519. */
const algorithm = 1;

const idBytes = 4;
const keyBytes = 32;
const signatureBytes = 64;

/** What stands before a public key's 32 bytes in its usual form (SPKI, RFC 8410). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** A key that can be shown to everybody: it verifies. */
export type VerifierKey = {
  /** `<name>+<id>+<key>`. */
  readonly text: string;
  readonly name: string;
  /** Of name and key, hex; signatures name it. */
  readonly id: string;
  readonly verify: (text: string, signature: Buffer) => boolean;
};

/** A key that signs. */
export type Signer = {
  readonly key: VerifierKey;
  /** The note: the text, which ends in a newline, with its signature. */
  readonly sign: (text: string) => string;
};

/** The text is not a key, or not a note that is signed with one of the keys. Says nothing of a private key. */
export class BadSignature extends Error {
  override readonly name = 'BadSignature';
}

const createKey = (name: string, raw: Buffer): VerifierKey => {
  const typed = Buffer.concat([Buffer.from([algorithm]), raw]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'hex').slice(0, 2 * idBytes);
  const publicKey = createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' });
  return {
    text: `${name}+${id}+${typed.toString('base64')}`,
    name,
    id,
    verify: (text, signature) => verify(null, Buffer.from(text), publicKey, signature),
  };
};

/** Reads `<name>+<id>+<key>`. Throws `BadSignature`. */
export const readVerifierKey = (text: string): VerifierKey => {
  const [, name = '', id = '', encoded = ''] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  const typed = Buffer.from(encoded, 'base64');
  if (typed.length !== 1 + keyBytes || typed[0] !== algorithm)
    throw new BadSignature('The key is not one of Ed25519 in the form <name>+<id>+<key>.');
  const key = createKey(name, typed.subarray(1));
  if (key.id !== id) throw new BadSignature('The key is not the one that its id says: a character is wrong.');
  return key;
};

const rawOf = (publicKey: KeyObject): Buffer =>
  publicKey.export({ format: 'der', type: 'spki' }).subarray(spkiPrefix.length);

/** A signer from a private key in PEM (PKCS #8). Throws `BadSignature` where it is no such key of Ed25519. */
export const createSigner = (name: string, pem: string): Signer => {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch {
    throw new BadSignature('The key is not a private key in PEM.');
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new BadSignature('The key is not one of Ed25519.');
  const key = createKey(name, rawOf(createPublicKey(privateKey)));
  return {
    key,
    sign: (text) => {
      const signature = sign(null, Buffer.from(text), privateKey);
      const line = Buffer.concat([Buffer.from(key.id, 'hex'), signature]).toString('base64');
      return `${text}\n— ${name} ${line}\n`;
    },
  };
};

/**
 * The text of a note, and the key that it is signed with. Signatures of other keys are passed over. Throws
 * `BadSignature` where none is of these keys, or one of them is wrong.
 */
export const openNote = (
  note: string,
  keys: readonly VerifierKey[],
): { readonly text: string; readonly key: VerifierKey } => {
  const end = note.lastIndexOf('\n\n');
  const text = note.slice(0, end + 1);
  const lines = note.slice(end + 2).split('\n');
  if (end === -1 || lines.pop() !== '' || lines.length === 0)
    throw new BadSignature('It is not a signed note.');
  let signedWith: VerifierKey | undefined;
  for (const line of lines) {
    const [, name, encoded = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    if (name === undefined || bytes.length < idBytes) throw new BadSignature('It is not a signed note.');
    const id = bytes.subarray(0, idBytes).toString('hex');
    const key = keys.find((it) => it.name === name && it.id === id);
    if (key === undefined) continue;
    const signature = bytes.subarray(idBytes);
    if (signature.length !== signatureBytes || !key.verify(text, signature))
      throw new BadSignature(`Its signature is not one of ${name}'s key ${id}.`);
    signedWith ??= key;
  }
  if (signedWith === undefined) throw new BadSignature('It is not signed with the key that was given.');
  return { text, key: signedWith };
};
