import type { Projection } from '../core/projection.ts';
import type { Part } from '../stores/embedded/index.ts';
import type { CommandInput } from './command.ts';
import { createComparison, type Compared, type Rows } from './comparison.ts';
import { withProgress } from './progress.ts';

/** A read model beside its replay; `fault` says why it could not be compared. */
export type Checked = { readonly read_model: string } & (Compared | { readonly fault: string });

/** Compares what is and what was of one read model. */
export const compareParts = (
  { signal, screen }: CommandInput,
  { name }: Projection,
  parts: readonly (readonly [part: Part, kept: Rows, replayed: Rows])[],
): Promise<Checked> =>
  withProgress(
    { what: `comparing ${name}`, total: undefined, unit: 'documents' },
    screen,
    async ({ add }) => {
      const { compare, end } = createComparison(signal, add);
      for (const [part, kept, replayed] of parts) await compare(part, kept, replayed);
      return { read_model: name, ...end() };
    },
  );

/** Whether nothing stands against it. */
export const isEqual = (it: Checked): boolean =>
  !('fault' in it) && it.first === undefined && it.digest === it.replayed_digest;
