import type { History } from '../core/history.ts';
import type { Clock, ReadModels } from '../core/ports.ts';
import type { Run } from '../core/run.ts';
import type { Passwords, Secrets } from '../core/secrets.ts';
import type { AuditLog } from './audit.ts';
import type { Prover } from '../proofs/prover.ts';
import type { Sealed } from '../proofs/sealed-log.ts';
import type { VerifierKey } from '../proofs/signed-note.ts';
import type { KeyUse } from './key-use.ts';
import type { RefusedRequests } from './refused-requests.ts';
import type { Tails } from './tails.ts';

/** What handlers work with; `app.ts` joins it. */
export type Services = {
  readonly run: Run;
  readonly reads: ReadModels;
  readonly history: History;
  /** The log itself, for the audit alone: everything else is read from the read models. */
  readonly log: AuditLog;
  /** The live tails of the log that clients have open. */
  readonly tails: Tails;
  /** What shows that the log is what it was. */
  readonly proofs: {
    readonly prover: Prover;
    /** The key that this node signs with, and what signs; absent where it has none. */
    readonly key: VerifierKey | undefined;
    readonly seal: (() => Promise<Sealed | undefined>) | undefined;
  };
  readonly secrets: Secrets;
  readonly passwords: Passwords;
  readonly clock: Clock;
  /** Begins a rebuild of a read model, or joins the running one; how it goes is the log's to tell. */
  readonly rebuild: (projection: string) => void;
  /** Notes that an API key is in use, beside the request. */
  readonly keyUse: KeyUse;
  /** Keeps count of the requests of the Admin API that are refused, beside them. */
  readonly refusedRequests: RefusedRequests;
  /** Counts what happened, for the metrics. */
  readonly count: (what: Counted) => void;
};

/** What the service counts beside requests. */
export type Counted =
  | { readonly what: 'authentication'; readonly result: 'ok' | 'missing' | 'invalid' | 'denied' }
  | { readonly what: 'look-up'; readonly kind: 'user' | 'credential'; readonly active: boolean }
  | {
      readonly what: 'sign-in';
      readonly to: 'workspace' | 'console';
      readonly result: 'ok' | 'failed' | 'too-many';
    };
