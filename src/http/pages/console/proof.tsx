import type { JSX } from 'preact';
import { Code, DataTable, EmptyState, Heading, Pager } from '../parts.tsx';
import { Time } from '../time.tsx';
import { eventPath } from './filters.tsx';
import { consolePath, ConsolePage } from './frame.tsx';

/** One signed statement of how the log was, as the API lists it. Hashes are SHA-256 as base64. */
export type CheckpointRecord = {
  /** Counts them, from 1. */
  readonly number: number;
  readonly tree_size: number;
  readonly root_hash: string;
  readonly time: string;
  /** The signed note, several lines. */
  readonly note: string;
  /** The event that states it in the log. */
  readonly event_id: string;
  /** Where that stands. */
  readonly position: string;
};

const StatedBy = ({ number, event_id: id, position }: CheckpointRecord): JSX.Element => (
  <a href={eventPath({ id, position })}>{number}</a>
);

/** What proves that an event stands in the log, as the API answers it. */
export type ProofRecord = {
  readonly event_id: string;
  /** Which leaf of the tree it is, from 0. */
  readonly index: number;
  readonly hash: string;
  readonly leaf_hash: string;
  /** From the leaf up. */
  readonly hashes: readonly string[];
  readonly checkpoint: CheckpointRecord;
};

const Unsealed = (): JSX.Element => (
  <div class="card">
    <p>
      <strong>Not sealed yet.</strong> No checkpoint covers this event so far. Look again after the next one.
    </p>
  </div>
);

const Sealed = ({ proof }: { readonly proof: ProofRecord }): JSX.Element => (
  <div class="card">
    <p>
      <strong>Sealed.</strong> The signed checkpoint below covers this event. Whoever keeps a copy of it can
      tell if the event is ever changed or taken away.
    </p>
    <dl class="facts">
      <dt>Checkpoint</dt>
      <dd>
        <StatedBy {...proof.checkpoint} />, of {proof.checkpoint.tree_size} events,{' '}
        <Time at={proof.checkpoint.time} />
      </dd>
      <dt>Place in it</dt>
      <dd>{proof.index}, from 0</dd>
      <dt>Leaf hash</dt>
      <dd>
        <code>{proof.leaf_hash}</code>
      </dd>
      <dt>Root hash</dt>
      <dd>
        <code>{proof.checkpoint.root_hash}</code>
      </dd>
    </dl>
    <Code id="checkpoint" label="the checkpoint" text={proof.checkpoint.note} />
    <details class="whole">
      <summary>The whole proof, with the path of {proof.hashes.length} hashes</summary>
      <Code id="proof" label="the proof" text={JSON.stringify(proof, null, 2)} />
    </details>
    <p>
      <a href={consolePath('checkpoints')}>All checkpoints</a>
    </p>
  </div>
);

/** Whether an event is sealed, and the proof where it is. */
export const ProofSection = ({ proof }: { readonly proof: ProofRecord | 'unsealed' }): JSX.Element => (
  <section aria-labelledby="proof-title">
    <h2 id="proof-title">Proof</h2>
    {proof === 'unsealed' ? <Unsealed /> : <Sealed proof={proof} />}
  </section>
);

/** One page of the list, the newest first. */
export type CheckpointsPageProps = {
  readonly checkpoints: readonly CheckpointRecord[];
  readonly nextHref?: string | undefined;
  readonly nowMs: number;
};

/** The checkpoints that seal the log. */
export const CheckpointsPage = ({ checkpoints, nextHref, nowMs }: CheckpointsPageProps): JSX.Element => (
  <ConsolePage title="Checkpoints" current="events">
    <Heading
      title="Checkpoints"
      back={{ href: consolePath('events'), text: 'Audit log' }}
      about="Signed statements of how many events the log had and what they were. Keep copies elsewhere."
    />
    {checkpoints.length === 0 ? (
      <EmptyState title="No checkpoints yet">
        <p>The first one is made some time after the first event.</p>
      </EmptyState>
    ) : (
      <DataTable
        id="checkpoints"
        caption="Checkpoints"
        columns={[
          {
            header: 'Number',
            cell: (checkpoint) => <StatedBy {...checkpoint} />,
          },
          { header: 'Events', cell: ({ tree_size }) => tree_size },
          { header: 'Time', cell: ({ time }) => <Time at={time} nowMs={nowMs} /> },
          { header: 'Root hash', cell: ({ root_hash }) => <code class="id">{root_hash}</code> },
          {
            header: 'Signed note',
            cell: ({ number, note }) => (
              <details class="whole">
                <summary>
                  Show<span class="sr"> the note of checkpoint {number}</span>
                </summary>
                <Code id={`note-${number}`} label="the note" text={note} />
              </details>
            ),
          },
        ]}
        rows={checkpoints}
      />
    )}
    <Pager nextHref={nextHref} />
  </ConsolePage>
);
