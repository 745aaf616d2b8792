import { MongoClient, MongoError, MongoServerError, type Collection, type Db } from 'mongodb';
import type { Position } from '../../core/event.ts';
import { StoreUnavailable } from '../../core/ports.ts';

/** How long a call to the server may take, in milliseconds; after it, whether a write happened is unknown. */
const callMs = 5_000;

/** How long the server itself works on a read; less than `callMs`, so that it stops before nobody listens. */
const readMs = 4_500;

/** How long sockets are silent before they are given up, in milliseconds: a call's late answer may still come. */
const socketMs = 10_000;

/** How often the driver looks whether the server is there, in milliseconds. */
const heartbeatMs = 2_000;

/** Calls under way at once; more are refused, so that a server that is silent holds no more memory than these. */
const callsMax = 5_000;

/** How long leaving the server may take, in milliseconds: the driver tells it first. */
const leaveMs = 2_000;

const connectionsMax = 32;

/** The database where the connection string names none. */
const databaseDefault = 'keyledger';

/** What every collection's name begins with, so that the database may be shared. */
const prefix = 'keyledger_';

/** A document of a read model: `s` is compared and replaced as one, and its first member, the revision, decides. */
export type Row = { readonly _id: string; readonly s: RowState };

/**
 * - `r`: the revision (of tombstones: how often it was changed);
 * - `c`: the position of the event that made it, absent where the document is gone, so that pages pass over it;
 * - `p`: the position of the event that it was changed by last, which so is that from which it holds;
 * - `g`: its group, `u`: its subgroup; `b`: the document as JSON;
 * - `h`: of tombstones what was laid before, oldest first; few of them ever change, and few times.
 */
export type RowState = {
  readonly r: number;
  readonly c?: Position;
  readonly p?: Position;
  readonly g?: string;
  readonly u?: string;
  readonly b?: string;
  readonly h?: readonly Laid[];
};

/** What is laid from a position on, as JSON. */
export type Laid = { readonly p: Position; readonly b: string };

/** How many updates one command may hold, and how many commands write at once. */
export type ServerLimits = { readonly updatesPerCommand: number; readonly writesAtOnce: number };

const limitsOfMongoDb: ServerLimits = { updatesPerCommand: 500, writesAtOnce: 8 };

/**
 * FerretDB 1 keeps a connection to SQLite open for each update of a command until the command ends, and hangs for
 * ever where its 100 are used up; and writers wait for each other in SQLite's busy loop.
 */
const limitsOfFerretDb: ServerLimits = { updatesPerCommand: 8, writesAtOnce: 2 };

/** The server, with every call bounded in time and its errors as `StoreUnavailable`. */
export type Server = {
  readonly db: Db;
  /** Runs one call; `what` is named in the error. Errors that `isExpected` picks are thrown as they are. */
  call<T>(what: string, run: () => Promise<T>, isExpected?: (error: unknown) => boolean): Promise<T>;
  readonly name: (name: string) => string;
  rows(collection: string): Collection<Row>;
  limits(): Promise<ServerLimits>;
  close(): Promise<void>;
};

const duplicateKey = 11_000;

/** Whether a write found its document's id taken. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKey;

/** Options that every read carries. */
export const readOptions = { maxTimeMS: readMs };

/** Rejects with `StoreUnavailable` where the promise takes longer than `ms`; what comes later is dropped. */
export const within = async <T>(what: string, ms: number, promise: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable(`${what} took longer than ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
};

const connect = (connectionString: string): MongoClient =>
  new MongoClient(connectionString, {
    appName: 'keyledger',
    serverSelectionTimeoutMS: callMs,
    connectTimeoutMS: callMs,
    socketTimeoutMS: socketMs,
    waitQueueTimeoutMS: callMs,
    heartbeatFrequencyMS: heartbeatMs,
    maxPoolSize: connectionsMax,
    ignoreUndefined: true,
    readPreference: 'primary',
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true },
  });

const readLimits = async (db: Db): Promise<ServerLimits> => {
  const info = await db.command({ buildInfo: 1 });
  return 'ferretdbVersion' in info ? limitsOfFerretDb : limitsOfMongoDb;
};

/** The server that the connection string names; connects at the first call. Throws on a string that is none. */
export const createServer = (connectionString: string): Server => {
  const client = connect(connectionString);
  const named = /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^/?]+)/.exec(connectionString)?.[1];
  const db = client.db(named === undefined ? databaseDefault : decodeURIComponent(named));
  let calls = 0;
  let isClosed = false;
  let limits: ServerLimits | undefined;
  let connecting: Promise<unknown> | undefined;

  // The driver connects by itself too, but after one failure it stays with what it has closed. Once connected, it
  // finds the server again whenever that comes back.
  const connected = (): Promise<unknown> =>
    (connecting ??= client.connect().catch((error: unknown) => {
      connecting = undefined;
      throw error;
    }));

  const call: Server['call'] = async (what, run, isExpected = () => false) => {
    if (isClosed) throw new StoreUnavailable('The read models are closed.');
    if (calls >= callsMax) throw new StoreUnavailable(`${calls} calls to MongoDB are under way.`);
    calls += 1;
    try {
      return await within(what, callMs, connected().then(run));
    } catch (error) {
      if (!(error instanceof MongoError) || isExpected(error)) throw error;
      throw new StoreUnavailable(`${what} failed: ${error.message}`, { cause: error });
    } finally {
      calls -= 1;
    }
  };

  return {
    db,
    call,
    name: (name) => prefix + name,
    rows: (collection) => db.collection<Row>(collection),
    limits: async () => (limits ??= await call('Asking the server what it is', () => readLimits(db))),
    close: async () => {
      isClosed = true;
      await within('Leaving MongoDB', leaveMs, client.close(true)).catch(() => {});
    },
  };
};

/** One row of a collection; absent where there is none. */
export const readRow = async (
  server: Server,
  collection: string,
  id: string,
): Promise<RowState | undefined> =>
  (await server.call('Reading a document', () => server.rows(collection).findOne({ _id: id }, readOptions)))
    ?.s;
