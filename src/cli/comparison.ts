import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Part, ReadModelRow } from '../stores/embedded/index.ts';

/** Rows that are compared before timers and signals get their turn. */
const rowsPerTurn = 1_000;

/** Rows of one side, in the order of their ids (as bytes) and then of time. */
export type Rows = Iterator<ReadModelRow, void> | AsyncIterator<ReadModelRow, void>;

/** Where what is kept is not what the replay says; a side is absent where it has no such row. */
export type Difference = {
  readonly part: Part;
  readonly id: string;
  readonly since?: string;
  readonly kept: string | null;
  readonly replayed: string | null;
};

/** How the two sides of a read model compare. */
export type Compared = {
  /** Rows that are kept, of what is and of what was. */
  readonly documents: number;
  readonly past: number;
  /** SHA-256 in hex over all rows of each side; equal where the sides are. */
  readonly digest: string;
  readonly replayed_digest: string;
  readonly first?: Difference;
};

/** What a difference may show of a text: digests and hashes of secrets stay where they are. */
const secretForm = /\$argon2[^"\\]*|(?<![\w-])[\w-]{43}(?![\w-])/g;

/** The text with a short fingerprint in the place of each secret, so that two that differ still do. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(secretForm, (secret) => {
    const fingerprint = createHash('sha256').update(secret).digest('hex').slice(0, 8);
    return `(secret ${fingerprint})`;
  });

const keyOf = ({ id, since = '' }: ReadModelRow): string => `${id}\u0000${since}`;

const compareKeys = (one: ReadModelRow, other: ReadModelRow): number => {
  const [since, otherSince] = [one.since ?? '', other.since ?? ''];
  if (one.id === other.id) return since === otherSince ? 0 : since < otherSince ? -1 : 1;
  return Buffer.compare(Buffer.from(one.id), Buffer.from(other.id));
};

const differenceOf = (
  part: Part,
  kept: ReadModelRow | undefined,
  replayed: ReadModelRow | undefined,
): Difference => {
  const { id = '', since } = kept ?? replayed ?? {};
  return {
    part,
    id: withoutSecrets(id),
    ...(since === undefined ? {} : { since }),
    kept: kept === undefined ? null : withoutSecrets(kept.text),
    replayed: replayed === undefined ? null : withoutSecrets(replayed.text),
  };
};

/** One side, and the digest of all that has been taken of it. */
const createSide = (hash: ReturnType<typeof createHash>, rows: Rows) => {
  let count = 0;
  return {
    next: async (): Promise<ReadModelRow | undefined> => {
      const { done, value: row } = await rows.next();
      if (done === true) return undefined;
      count += 1;
      hash.update(`${keyOf(row)}\u0000${row.text}\n`);
      return row;
    },
    count: (): number => count,
  };
};

/** Holds the rows of a read model against those of a replay, part by part and in bounded memory. */
export const createComparison = (signal: AbortSignal, compared: (rows: number) => void) => {
  const hashes = { kept: createHash('sha256'), replayed: createHash('sha256') };
  const counts = { documents: 0, past: 0 };
  let first: Difference | undefined;

  const turn = async (rows: number): Promise<void> => {
    signal.throwIfAborted();
    compared(rows);
    await nextTurn();
  };

  return {
    compare: async (part: Part, keptRows: Rows, replayedRows: Rows): Promise<void> => {
      const sides = {
        kept: createSide(hashes.kept, keptRows),
        replayed: createSide(hashes.replayed, replayedRows),
      };
      let kept = await sides.kept.next();
      let replayed = await sides.replayed.next();
      for (let rows = 1; kept !== undefined || replayed !== undefined; rows += 1) {
        // Whichever stands first has no partner on the other side.
        const order = kept === undefined ? 1 : replayed === undefined ? -1 : compareKeys(kept, replayed);
        if (order !== 0 || kept?.text !== replayed?.text)
          first ??= differenceOf(part, order > 0 ? undefined : kept, order < 0 ? undefined : replayed);
        if (order <= 0) kept = await sides.kept.next();
        if (order >= 0) replayed = await sides.replayed.next();
        if (rows % rowsPerTurn === 0) await turn(rowsPerTurn);
      }
      counts[part] = sides.kept.count();
    },
    end: (): Compared => ({
      ...counts,
      digest: hashes.kept.digest('hex'),
      replayed_digest: hashes.replayed.digest('hex'),
      ...(first === undefined ? {} : { first }),
    }),
  };
};
