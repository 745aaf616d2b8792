import type { Command } from '../../src/core/command.ts';
import type { Fact } from '../../src/core/event.ts';
import type { Clock, EventStore, ReadModels } from '../../src/core/ports.ts';
import { createRun, type Run } from '../../src/core/run.ts';
import type { Secrets } from '../../src/core/secrets.ts';
import { codec } from '../../src/events/index.ts';
import { createSecrets } from '../../src/secrets/tokens.ts';
import { openEmbedded, type EmbeddedEngine } from '../../src/stores/embedded/index.ts';
import { cause } from './examples.ts';
import { freshFolder, removeFolder } from './program.ts';
import { link } from '../../src/proofs/event-hash.ts';

/** The service's own read models, as an engine's thread loads them. */
export const projectionsModule = new URL('../../src/projections/index.js', import.meta.url).href;

/** What a test may put around the parts. */
export type JoinedOptions = {
  readonly dir?: string;
  readonly clock?: Clock;
  readonly projectionsModule?: string;
  /** Puts something between `run` and the log. */
  readonly around?: (events: EventStore) => EventStore;
  /** Told of each lost race and each decision. */
  readonly told?: (what: string) => void;
  /** Told whenever a command awaits the read models, which then wait for what it answers. */
  readonly settled?: (revisions: readonly number[]) => void | Promise<void>;
};

/** The real engine and `run` over it, without HTTP. */
export type Joined = {
  readonly dir: string;
  readonly engine: EmbeddedEngine;
  readonly reads: ReadModels;
  readonly run: Run;
  readonly secrets: Secrets;
  /** Runs a command that has to be granted, as the operator. */
  grant<W, S, F extends Fact, C extends string>(command: Command<W, S, F, C>, wish: W): Promise<void>;
  /** Closes the engine and, where it was fresh, removes the folder. */
  close(): Promise<void>;
};

/** Opens the embedded engine with the service's read models in a folder of its own, unless one is given. */
export const openJoined = async (options: JoinedOptions = {}): Promise<Joined> => {
  const { around = (events) => events, told = () => {}, settled = () => {} } = options;
  const dir = options.dir ?? freshFolder();
  const engine = await openEmbedded({
    dir,
    projectionsModule: options.projectionsModule ?? projectionsModule,
    onFatal: (error) => {
      throw error;
    },
  });
  const secrets = createSecrets();
  const run = createRun({
    events: around(engine.events),
    readModels: {
      settle: async (events) => {
        await settled(events.map(({ revision }) => revision));
        await engine.readModels.settle(events);
      },
    },
    link,
    codec,
    clock: options.clock ?? Date.now,
    newId: () => secrets.newId(),
    observer: {
      decided: (command, outcome) => told(`${command} ${outcome}`),
      conflicted: (command) => told(`${command} conflicted`),
    },
  });
  return {
    dir,
    engine,
    reads: engine.readModels,
    run,
    secrets,
    grant: async (command, wish) => {
      const outcome = await run(command, wish, cause);
      if (!outcome.accepted) throw new Error(`${command.name} was refused: ${outcome.code}.`);
    },
    close: async () => {
      await engine.close();
      if (options.dir === undefined) removeFolder(dir);
    },
  };
};
