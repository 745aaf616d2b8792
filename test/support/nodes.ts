import { MongoClient } from 'mongodb';
import { join } from 'node:path';
import { createClient, type Client } from './client.ts';
import { startEventStoreProcess, type EventStoreProcess } from './eventstore-process.ts';
import type { FerretDb } from './ferretdb.ts';
import { freshDatabase } from './mongodb.ts';
import { freshFolder, removeFolder, startProgram, type Program } from './program.ts';

/** `up` answers; `paused` is alive and does nothing; `down` is not there. */
export type NodeState = 'up' | 'paused' | 'down';

/** One process of the service among several over the same engines. */
export type Node = {
  readonly name: string;
  readonly state: () => NodeState;
  /** A client of the process that runs now. */
  readonly client: () => Client;
  /** Where the process that runs now listens. */
  readonly url: () => string;
  /** Resolves when the node is `up` no more; at once where it is not. */
  readonly left: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** SIGKILL, then waits for the end. */
  readonly kill: () => Promise<void>;
  /** SIGSTOP: a machine that hangs. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly output: () => string;
};

const createNode = (name: string, launch: () => Promise<Program>): Node => {
  let program: Program | undefined;
  let client: Client | undefined;
  let state: NodeState = 'down';
  let leave: (() => void) | undefined;
  let left: Promise<void> = Promise.resolve();
  const turn = (to: NodeState): void => {
    state = to;
    if (to !== 'up') return leave?.();
    left = new Promise((resolve) => {
      leave = resolve;
    });
  };
  return {
    name,
    state: () => state,
    client: () => {
      if (client === undefined) throw new Error(`${name} was never started.`);
      return client;
    },
    url: () => {
      if (program === undefined) throw new Error(`${name} was never started.`);
      return program.url;
    },
    left: () => left,
    start: async () => {
      program = await launch();
      client = createClient(program.url);
      turn('up');
    },
    kill: async () => {
      turn('down');
      await program?.kill();
    },
    pause: () => {
      turn('paused');
      program?.child.kill('SIGSTOP');
    },
    resume: () => {
      program?.child.kill('SIGCONT');
      turn('up');
    },
    output: () => program?.output() ?? '',
  };
};

/** Nodes of the service, and the engines that they share. */
export type Nodes = {
  readonly nodes: readonly Node[];
  readonly eventStore: EventStoreProcess;
  /** The connection string of the read models. */
  readonly readModels: string;
  /** Starts the event store anew where it was killed, on the same port and file. */
  readonly restartEventStore: () => Promise<void>;
  /** One more node of the same engines, not started; `program` is another one than the service's own. */
  readonly another: (program?: string) => Node;
  readonly close: () => Promise<void>;
};

/** Starts the log's server and so many nodes on it and on a fresh database of this FerretDB. */
export const startNodes = async (count: number, ferretDb: FerretDb): Promise<Nodes> => {
  const dir = freshFolder();
  const file = join(dir, 'double.log');
  let eventStore = await startEventStoreProcess(file);
  const readModels = ferretDb.url(freshDatabase());
  const env = {
    SERVICE_EVENT_STORE: eventStore.connectionString,
    SERVICE_READ_MODELS: readModels,
  };
  const launch = (program?: string) => (): Promise<Program> =>
    startProgram({ dir, env, ...(program === undefined ? {} : { program }) });
  const all: Node[] = [];
  const another = (program?: string): Node => {
    const node = createNode(`node ${all.length + 1}`, launch(program));
    all.push(node);
    return node;
  };
  const nodes = Array.from({ length: count }, () => another());
  await Promise.all(nodes.map((node) => node.start()));
  return {
    nodes,
    get eventStore() {
      return eventStore;
    },
    readModels,
    restartEventStore: async () => {
      eventStore = await startEventStoreProcess(file, eventStore.port);
    },
    another,
    close: async () => {
      await Promise.all(all.map((node) => node.kill()));
      await eventStore.kill();
      removeFolder(dir);
    },
  };
};

/** The rebuild of each read model that ended last, and how, as the server holds it; by the read model's key. */
export const lastRebuilds = async (
  connectionString: string,
): Promise<ReadonlyMap<string, { readonly id: string; readonly error: string | null } | null>> => {
  const client = new MongoClient(connectionString);
  try {
    type Model = { readonly _id: string; readonly rebuilt: { id: string; error: string | null } | null };
    const models = await client.db().collection<Model>('keyledger_register').find({}).toArray();
    return new Map(models.map(({ _id, rebuilt }) => [_id, rebuilt]));
  } finally {
    await client.close();
  }
};
