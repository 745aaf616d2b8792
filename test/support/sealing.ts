import { generateKeyPairSync } from 'node:crypto';
import { createHistory } from '../../src/core/history.ts';
import type { Clock, EventStore } from '../../src/core/ports.ts';
import type { Run } from '../../src/core/run.ts';
import type { Prover } from '../../src/proofs/prover.ts';
import type { Sealer } from '../../src/proofs/sealer.ts';
import { signerOf } from '../../src/proofs/signing-key.ts';
import { joinSealing } from '../../src/sealing.ts';
import { createSecrets } from '../../src/secrets/tokens.ts';

/** A private key in PEM that nobody has. */
export const freshPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;

/** A node's own sealer and prover, which seal when they are told to alone. */
export const createSealing = (
  log: EventStore,
  run: Run,
  pem: string,
  clock: Clock = Date.now,
): { readonly sealer: Sealer; readonly prover: Prover } => {
  const secrets = createSecrets();
  const { sealer, proofs } = joinSealing({
    log,
    run,
    history: createHistory(log),
    newId: () => secrets.newId(),
    clock,
    signer: signerOf(pem),
    everyEvents: Infinity,
    everyMs: Infinity,
    failed: () => undefined,
  });
  if (sealer === undefined) throw new Error('There is a key, and nothing seals.');
  return { sealer, prover: proofs.prover };
};
