import type { Position } from '../core/event.ts';
import type { Projection } from '../core/projection.ts';
import { decode, projections } from '../projections/index.ts';
import {
  headOf,
  openOwnedFile,
  openShadow,
  registeredIn,
  rowsOf,
  type Part,
} from '../stores/embedded/index.ts';
import { compareParts, type Checked } from './checked.ts';
import type { CommandInput } from './command.ts';
import { aheadIn, fileNameOf } from './engines.ts';
import { replayInto } from './replaying.ts';

/** What a folder's read model cannot be compared for; absent where it can. */
const faultOf = (
  { version }: Projection,
  found: { readonly version: number; readonly checkpoint: Position } | undefined,
  head: Position,
): string | undefined => {
  if (found === undefined) return 'is not there: the next start of the service fills it';
  if (found.version !== version)
    return `has version ${found.version}, and here it is ${version}: the next start of the service fills it anew`;
  return found.checkpoint === head ? undefined : `stands at ${found.checkpoint}, and the log at ${head}`;
};

/** Checks the folder's read models, whether its log is its own or a copy of one elsewhere. */
export const checkFolder = async (input: CommandInput): Promise<readonly Checked[]> => {
  const { config } = input;
  const { db, close } = openOwnedFile(config.data_dir, fileNameOf(config));
  const shadow = openShadow();
  try {
    const head = headOf(db);
    await replayInto(shadow, { projections, decode, log: db, ahead: aheadIn(config, head) }, input);
    const kept = new Map(registeredIn(db).map((it) => [it.name, it]));
    const replayed = new Map(registeredIn(shadow.db).map((it) => [it.name, it]));
    const checked: Checked[] = [];
    for (const projection of projections) {
      const { name } = projection;
      const found = kept.get(name);
      const fault = faultOf(projection, found, head);
      const sides = (part: Part) =>
        [
          part,
          rowsOf(db, projection, found?.table ?? '', part),
          rowsOf(shadow.db, projection, replayed.get(name)?.table ?? '', part),
        ] as const;
      checked.push(
        fault === undefined
          ? await compareParts(input, projection, [sides('documents'), sides('past')])
          : { read_model: name, fault },
      );
    }
    return checked;
  } finally {
    shadow.close();
    close();
  }
};
