import { generateKeyPairSync } from 'node:crypto';
import { checkpointStream, sealLog } from '../../src/commands/checkpoint.ts';
import { createHistory } from '../../src/core/history.ts';
import type { Clock, EventStore } from '../../src/core/ports.ts';
import type { Run } from '../../src/core/run.ts';
import { codec } from '../../src/events/index.ts';
import { findEvent } from '../../src/http/event-look-up.ts';
import { createProver, type Prover } from '../../src/proofs/prover.ts';
import { createSealedLog } from '../../src/proofs/sealed-log.ts';
import { createSealer, type Sealer } from '../../src/proofs/sealer.ts';
import type { Signer } from '../../src/proofs/signed-note.ts';
import { signerOf } from '../../src/proofs/signing-key.ts';
import { cause } from './examples.ts';

/** A private key in PEM that nobody has. */
export const freshPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;

/** What a node seals with. */
export type Sealing = { readonly sealer: Sealer; readonly prover: Prover; readonly signer: Signer };

/** The service's own sealer and prover, which seal when they are told to alone. */
export const createSealing = (
  events: EventStore,
  run: Run,
  { pem = freshPem(), clock = Date.now }: { readonly pem?: string; readonly clock?: Clock } = {},
): Sealing => {
  const history = createHistory(events);
  const needs = {
    log: events,
    decode: codec.decode,
    checkpointStream,
    findEvent: (id: string, time: string) => findEvent(events, history, id, time),
  };
  const sealedLog = createSealedLog(needs);
  const signer = signerOf(pem);
  const sealer = createSealer({
    log: events,
    sealedLog,
    signer,
    clock,
    state: async (checkpoint) => {
      const outcome = await run(sealLog, checkpoint, { ...cause, actor: 'system' });
      return outcome.accepted && outcome.events.length > 0;
    },
    everyEvents: Infinity,
    everyMs: Infinity,
    failed: () => undefined,
  });
  return { sealer, signer, prover: createProver(sealedLog) };
};
