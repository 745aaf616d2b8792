import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createSigner, type Signer } from './signed-note.ts';

/** The name that the key has in signatures. */
export const keyName = 'keyledger';

/** Where a data folder has its private key (PEM), and the public one that verifies, for whoever wants to keep it. */
export const signingKeyFile = 'signing-key.pem';
export const verifierKeyFile = 'signing-key.pub';

const writeFile = (path: string, text: string, mode: number): void => {
  const unfinished = `${path}.part`;
  const fd = openSync(unfinished, 'w', mode);
  try {
    // One that was left by a start that was cut short may have another mode.
    chmodSync(unfinished, mode);
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};

/** The key of the settings. Throws `BadSignature` where it is none. */
export const signerOf = (pem: string): Signer => createSigner(keyName, pem);

/** The key of a file. Throws with the file's name, for whoever starts the service has to know which key it is about. */
const signerOfFile = (path: string): Signer => {
  try {
    return signerOf(readFileSync(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${path} is not the key to sign with: ${why}`, { cause: error });
  }
};

/**
 * The key of a data folder that this process owns; made where there is none. The public key is written beside it.
 * Throws where the file is not a key, or is missing beside its public one: it is never replaced, for what was signed with
 * it would verify no more.
 */
export const signerOfFolder = (dir: string): Signer => {
  const path = join(dir, signingKeyFile);
  const publicPath = join(dir, verifierKeyFile);
  if (!existsSync(path)) {
    // It was lost, or is kept elsewhere: another one in its place would not be noticed for long.
    if (existsSync(publicPath))
      throw new Error(
        `${path} is missing, and ${publicPath} is there: put the key back, name it in the settings, or remove the public one too for a new key.`,
      );
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFile(path, privateKey.export({ format: 'pem', type: 'pkcs8' }) as string, 0o600);
  }
  const signer = signerOfFile(path);
  const text = `${signer.key.text}\n`;
  if (!existsSync(publicPath) || readFileSync(publicPath, 'utf8') !== text)
    writeFile(publicPath, text, 0o644);
  return signer;
};
