import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { signerOfFolder, signingKeyFile, verifierKeyFile } from '../../src/proofs/signing-key.ts';
import { freshFolder, removeFolder } from '../support/program.ts';

describe('the signing key of a data folder', () => {
  let dir: string;
  beforeEach(() => {
    dir = freshFolder();
  });
  afterEach(() => removeFolder(dir));

  const path = (): string => join(dir, signingKeyFile);

  it('is made once, for its owner alone, and the public one beside it', () => {
    // A start that was cut short while it wrote.
    writeFileSync(`${path()}.part`, 'half', { mode: 0o666 });
    const made = signerOfFolder(dir);
    expect(statSync(path()).mode & 0o777).to.equal(0o600);
    expect(readFileSync(join(dir, verifierKeyFile), 'utf8')).to.equal(`${made.key.text}\n`);
    expect(signerOfFolder(dir).key.text).to.equal(made.key.text);
  });

  it('is never replaced where it is none: the start names the file, and says nothing of what it holds', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const other = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    for (const [text, why] of [
      ['', 'The key is not a private key in PEM.'],
      ['hunter2', 'The key is not a private key in PEM.'],
      [other, 'The key is not one of Ed25519.'],
    ] as const) {
      writeFileSync(path(), text);
      expect(() => signerOfFolder(dir)).to.throw(`${path()} is not the key to sign with: ${why}`);
      expect(readFileSync(path(), 'utf8')).to.equal(text);
    }
  });

  it('is named where it can not be read', () => {
    mkdirSync(path());
    expect(() => signerOfFolder(dir)).to.throw(`${path()} is not the key to sign with: EISDIR`);
  });

  it('is not made anew where it was lost and its public key is still there', () => {
    const made = signerOfFolder(dir);
    const pem = readFileSync(path(), 'utf8');
    rmSync(path());
    expect(() => signerOfFolder(dir)).to.throw(
      `${path()} is missing, and ${join(dir, verifierKeyFile)} is there`,
    );
    writeFileSync(path(), pem);
    expect(signerOfFolder(dir).key.text).to.equal(made.key.text);
    for (const file of [path(), join(dir, verifierKeyFile)]) rmSync(file);
    expect(signerOfFolder(dir).key.text).not.to.equal(made.key.text);
  });
});
