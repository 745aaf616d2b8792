import { checkpointStream, sealLog } from './commands/checkpoint.ts';
import type { History } from './core/history.ts';
import type { Clock, EventStore } from './core/ports.ts';
import type { Run } from './core/run.ts';
import { codec } from './events/index.ts';
import { findEvent } from './http/event-look-up.ts';
import type { Services } from './http/services.ts';
import { createProver } from './proofs/prover.ts';
import { createSealedLog } from './proofs/sealed-log.ts';
import { createSealer, type Sealer, type SealerNeeds } from './proofs/sealer.ts';
import type { Signer } from './proofs/signed-note.ts';

/** What seals the log and proves what is in it, joined. */
export type Sealing = {
  readonly proofs: Services['proofs'];
  /** Absent where there is no key to sign with. */
  readonly sealer: Sealer | undefined;
};

type Needs = Pick<SealerNeeds, 'everyEvents' | 'everyMs' | 'failed'> & {
  readonly log: Pick<EventStore, 'readAll' | 'readAllBack' | 'readStream'>;
  readonly run: Run;
  readonly history: History;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly signer: Signer | undefined;
};

/** Joins the sealer and the prover with the log, and the sealer with the one road by which anything changes. */
export const joinSealing = ({ log, run, history, newId, signer, ...needs }: Needs): Sealing => {
  const sealedLog = createSealedLog({
    log,
    decode: codec.decode,
    checkpointStream,
    findEvent: (id, time) => findEvent(log, history, id, time),
  });
  const prover = createProver(sealedLog);
  if (signer === undefined) return { proofs: { prover, key: undefined, seal: undefined }, sealer: undefined };
  const origin = { address: null, user_agent: null, reason: null, causation_id: null };
  const sealer = createSealer({
    ...needs,
    log,
    sealedLog,
    signer,
    state: async (checkpoint) => {
      const cause = { actor: 'system', correlation_id: newId(), ...origin };
      const outcome = await run(sealLog, checkpoint, cause);
      return outcome.accepted && outcome.events.length > 0;
    },
  });
  return { proofs: { prover, key: signer.key, seal: sealer.seal }, sealer };
};
