import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { operations, type Operation } from './operations.ts';
import { sideNames, type SideName } from './sides/side.ts';

/** What one run of the benchmark does. */
export type Options = {
  readonly operations: readonly Operation[];
  readonly sides: readonly SideName[];
  readonly rounds: number;
  /** The measured time of one cell in one round. */
  readonly seconds: number;
  /** Adds the table with `largeCredentials` credentials in the store. */
  readonly large: boolean;
  readonly largeCredentials: number;
  /** The engine's own rate and the disk's. */
  readonly engine: boolean;
  /** Nothing but the service on remote engines, beside their own clients. */
  readonly engines: boolean;
  /** How many credentials the log holds that is replayed. */
  readonly replayedCredentials: number;
  /** Nothing but what the log's history is used by: commands, and answers as of then. */
  readonly history: boolean;
  readonly historyEvents: number;
  /** The service's program. */
  readonly service: string;
};

/** How to call it, for `--help` and after a mistake. */
export const usage = `npm run bench -- [options]
  --quick            one short round of everything, about a minute
  --only a,b         only these operations: ${operations.join(', ')}
  --sides a,b        only these sides: ${sideNames.join(', ')}
  --rounds N         rounds (3)
  --seconds S        seconds per cell and round (1.5)
  --no-engine        without the engine's and the disk's own rates
  --large            adds the table with a large store
  --credentials N    how large (1000000)
  --engines          instead: the service on EventStoreDB and MongoDB, beside their official clients, and a replay
  --history          instead: replay, rebuild, export, verify and the like on a long log, and lists as of then
  --events N         how long (1000000, with --quick 100000)
  --service FILE     the service's program (build/src/main.js)`;

/** Reads the command line. Throws on what it does not know. */
export const readOptions = (args: readonly string[]): Options => {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: flag,
      large: flag,
      engines: flag,
      history: flag,
      'no-engine': flag,
      only: text,
      sides: text,
      rounds: text,
      seconds: text,
      credentials: text,
      events: text,
      service: text,
    },
  });
  return {
    operations: readNames('--only', operations, values.only),
    sides: readNames('--sides', sideNames, values.sides),
    rounds: readNumber('--rounds', values.rounds, values.quick ? 1 : 3),
    seconds: readNumber('--seconds', values.seconds, values.quick ? 0.6 : 1.5),
    large: values.large,
    largeCredentials: readNumber('--credentials', values.credentials, 1_000_000),
    engine: !values['no-engine'],
    engines: values.engines,
    replayedCredentials: values.quick ? 5_000 : 20_000,
    history: values.history,
    historyEvents: readNumber('--events', values.events, values.quick ? 100_000 : 1_000_000),
    service: values.service ?? fileURLToPath(new URL('../src/main.js', import.meta.url)),
  };
};

const readNames = <T extends string>(
  option: string,
  known: readonly T[],
  text: string | undefined,
): readonly T[] => {
  if (text === undefined) return known;
  const names = text.split(',');
  const unknown = names.find((name) => !known.some((it) => it === name));
  if (unknown !== undefined) throw new Error(`${option}: ${unknown} is none of ${known.join(', ')}`);
  return known.filter((name) => names.includes(name));
};

const readNumber = (option: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${option}: ${text} is no number above 0`);
  return value;
};
