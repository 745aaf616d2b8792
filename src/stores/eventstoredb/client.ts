import {
  BACKWARDS,
  convertToCommandError,
  END,
  EventStoreDBClient,
  FORWARDS,
  START,
  streamNameFilter,
  type AllStreamRecordedEvent,
  type RecordedEvent,
} from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import {
  createBatchAppend,
  numberOf,
  type BatchAppendCall,
  type ServerAppend,
  type ServerAppended,
} from './batch-append.ts';
import type { ConnectionSettings } from './connection-string.ts';
import type { ServerEvent } from './envelope.ts';
import { answered, AppendTooLarge, ServerFailure } from './failure.ts';

/** How long a seed may take to tell the cluster's members unless the connection string says, in seconds. */
const gossipTimeoutSecs = 2;

/** How often an idle connection is asked whether it lives, and how long it may take to answer, in milliseconds. */
const keepAliveMs = 10_000;

/** How many records the server looks through before a filtered subscription hears of it. */
const searchWindowEvents = 1_000;

/** All streams but the server's own. */
const notSystem = '^[^$]';

/** Where a reading of the whole log begins, that place included. */
export type Place = 'start' | 'end' | bigint;

/**
 * A connection to the server, or to the leader of a cluster. What fails is thrown as `ServerFailure`, within the
 * time given; what is read is let go of in any case. This file and `batch-append.ts` alone know the client package.
 */
export type Client = {
  append(append: ServerAppend, ms: number): Promise<ServerAppended>;
  /** Nothing where there is no such stream. */
  readStream(stream: string, from: bigint, count: number, ms: number): Promise<readonly ServerEvent[]>;
  /** Everything, the server's own events too. */
  readAll(
    direction: 'forwards' | 'backwards',
    from: Place,
    count: number,
    ms: number,
  ): Promise<readonly ServerEvent[]>;
  /** Events behind a position but for the server's own; ends when the signal aborts, the server ends it, or it fails. */
  subscribe(after: bigint, signal: AbortSignal): AsyncIterable<ServerEvent>;
  /** Ends what still runs and the connection. */
  close(): Promise<void>;
};

/** What a call's failure may say of itself: the client's errors, gRPC's, and Node's. */
type Told = { readonly type?: unknown; readonly code?: unknown; readonly message?: unknown };

/** The client's error types and gRPC's codes of what may pass: `14 UNAVAILABLE` comes as a plain error too. */
const passingTypes = new Set<unknown>([
  'unavailable',
  'cancelled',
  'timeout',
  'deadline-exceeded',
  'unknown',
]);
const passingCodes = new Set<unknown>([1, 2, 4, 8, 10, 13, 14, 'ERR_STREAM_PREMATURE_CLOSE']);

const denying = new Set<unknown>(['access-denied', 7, 16]);

const toFailure = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof ServerFailure) return error;
  // The client's own calls throw its own errors already, but not all of them.
  const { type, code, message } = ('details' in error ? convertToCommandError(error) : error) as Told;
  const options = { cause: error };
  if (type === 'not-leader') return new ServerFailure('moved', 'another node leads now', options);
  if (type === 'maximum-append-size-exceeded')
    return new AppendTooLarge('The append is larger than the server takes.', options);
  if (denying.has(type) || denying.has(code))
    return new ServerFailure('denied', 'the server denies access', options);
  const isPassing = passingTypes.has(type) || (type === undefined && passingCodes.has(code));
  if (isPassing || /^Failed to discover|Server Is Not Ready/.test(String(message)))
    return new ServerFailure('away', String(message) || String(type), options);
  return error;
};

const toServerEvent = (event: RecordedEvent | AllStreamRecordedEvent): ServerEvent => ({
  id: event.id,
  type: event.type,
  stream: event.streamId,
  revision: event.revision,
  position: numberOf(event.position?.commit),
  data: event.data,
  metadata: event.metadata,
});

const whole = (settings: ConnectionSettings, name: string): number | undefined => {
  const value = settings.options.get(name);
  return value === undefined ? undefined : Number(value);
};

/** Never +discover with several hosts: the client would ask the first alone. */
const hostsOf = ({ hosts, discover }: ConnectionSettings) => {
  const [first] = hosts;
  if (first === undefined) throw new Error('There is no host.');
  if (hosts.length > 1) return { endpoints: [...hosts] };
  return discover ? { discover: first } : { endpoint: first };
};

const given = <T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

/** What is used of the client beyond its published surface. */
type Internals = {
  getChannel: () => Promise<{ close(): void }>;
  callArguments: (options: { requiresLeader: boolean }, call: { deadline: number }) => readonly unknown[];
  GRPCStreamCreator: (
    service: unknown,
    name: string,
    begin: (stub: { batchAppend(...args: readonly unknown[]): BatchAppendCall }) => BatchAppendCall,
  ) => () => Promise<BatchAppendCall>;
};

/**
 * The client, and how its connection ends. `nth` makes the connection's settings differ from those of any other:
 * gRPC shares a connection among equals, so that a new client would be given the dead connection of the old one.
 */
const makeClient = (settings: ConnectionSettings, nth: number) => {
  const options = given({
    connectionName: settings.options.get('connectionname'),
    maxDiscoverAttempts: whole(settings, 'maxdiscoverattempts'),
    discoveryInterval: whole(settings, 'discoveryinterval'),
    gossipTimeout: whole(settings, 'gossiptimeout') ?? gossipTimeoutSecs,
    keepAliveTimeout: whole(settings, 'keepalivetimeout') ?? keepAliveMs,
  });
  const interval = whole(settings, 'keepaliveinterval') ?? keepAliveMs;
  const client = new EventStoreDBClient(
    // The overloads tell the three kinds of hosts apart, which is done above.
    {
      ...options,
      ...hostsOf(settings),
      keepAliveInterval: interval < 0 ? interval : interval + nth,
    } as never,
    { insecure: !settings.tls, ...settings.certificates },
    settings.credentials,
  );
  const internals = client as unknown as Internals;
  const openBatchAppend = internals.GRPCStreamCreator(streamsGrpc.StreamsClient, 'append', (stub) =>
    stub.batchAppend(...internals.callArguments({ requiresLeader: true }, { deadline: Infinity })),
  );
  let channel: { close(): void } | undefined;
  const getChannel = internals.getChannel.bind(client);
  internals.getChannel = async () => (channel = await getChannel());
  const close = async (): Promise<void> => {
    await client.dispose();
    channel?.close();
  };
  return { client, openBatchAppend, close };
};

type Cancellable = AsyncIterable<unknown> & {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  destroy(): unknown;
};

/** Lets go of a reading, whether or not it has begun; without this, a call that is not read to its end stays open. */
const release = (reading: Cancellable, cancel: () => Promise<void>): void => {
  cancel().catch(() => undefined);
  reading.destroy();
};

/** Reads to the end, within the time. */
const collect = async (
  call: string,
  ms: number,
  reading: Cancellable & { cancel(): Promise<void> } & AsyncIterable<{
      event?: RecordedEvent | AllStreamRecordedEvent;
    }>,
): Promise<readonly ServerEvent[]> => {
  // A second error, after the first has been thrown, must not end the process.
  reading.on('error', () => undefined);
  const read = async (): Promise<readonly ServerEvent[]> => {
    const events: ServerEvent[] = [];
    for await (const { event } of reading) if (event !== undefined) events.push(toServerEvent(event));
    return events;
  };
  try {
    return await answered(call, ms, read());
  } catch (error) {
    throw toFailure(error);
  } finally {
    release(reading, () => reading.cancel());
  }
};

/** Opens no connection yet. */
export const createClient = (settings: ConnectionSettings, nth: number): Client => {
  const { client, openBatchAppend, close } = makeClient(settings, nth);
  // A follower can be behind, and what it answers would be taken for the truth.
  const leader = { requiresLeader: true } as const;

  const batchAppend = createBatchAppend(openBatchAppend);
  const append: Client['append'] = async (wish, ms) => {
    try {
      return await batchAppend(wish, ms);
    } catch (error) {
      throw toFailure(error);
    }
  };

  const readStream: Client['readStream'] = async (stream, from, count, ms) => {
    const options = { ...leader, direction: FORWARDS, fromRevision: from, maxCount: count } as const;
    try {
      const events = await collect('read of a stream', ms, client.readStream(stream, options));
      // Of a stream that is not there the server says so. To take this for it could answer that a secret never was.
      if (events.length === 0 && from === 0n)
        throw new ServerFailure('away', 'the server ended a read before its first event');
      return events;
    } catch (error) {
      if ((error as Told).type === 'stream-not-found') return [];
      throw error;
    }
  };

  const readAll: Client['readAll'] = (direction, from, count, ms) => {
    const reading = client.readAll({
      ...leader,
      direction: direction === 'forwards' ? FORWARDS : BACKWARDS,
      fromPosition: from === 'start' ? START : from === 'end' ? END : { commit: from, prepare: from },
      maxCount: count,
    });
    return collect('read of the log', ms, reading);
  };

  async function* subscribe(after: bigint, signal: AbortSignal): AsyncGenerator<ServerEvent, void> {
    if (signal.aborted) return;
    const subscription = client.subscribeToAll({
      ...leader,
      fromPosition: after === 0n ? START : { commit: after, prepare: after },
      filter: streamNameFilter({
        regex: notSystem,
        maxSearchWindow: searchWindowEvents,
        checkpointInterval: 1,
      }),
    });
    subscription.on('error', () => undefined);
    const leave = (): void => release(subscription, () => subscription.unsubscribe());
    signal.addEventListener('abort', leave, { once: true });
    try {
      for await (const { event } of subscription) if (event !== undefined) yield toServerEvent(event);
    } catch (error) {
      if (!signal.aborted) throw toFailure(error);
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  return { append, readStream, readAll, subscribe, close };
};
