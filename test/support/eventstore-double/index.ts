import {
  Server,
  ServerCredentials,
  type Metadata,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceError,
} from '@grpc/grpc-js';
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipPb from '@eventstore/db-client/generated/gossip_pb.js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { createAppend, createBatchAppend } from './appending.ts';
import { createFaults, type Fault } from './faults.ts';
import { openLog, type Expected, type Held, type Outcome, type Proposed } from './log.ts';
import { failureOf, unauthenticated, uuidOf } from './messages.ts';
import { createRead, type Act, type Subscribed } from './reading.ts';

/** After how many appends the double writes events of its own, as servers do: statistics, settings and links. */
const ownEventsEvery = 3;

/** How the double is started. */
export type DoubleOptions = {
  readonly port?: number;
  /** Where the log is kept beyond the process; in memory alone unless told. */
  readonly file?: string;
  /** Serves over TLS, with this key and certificate (PEM). */
  readonly tls?: { readonly key: Buffer; readonly certificate: Buffer };
  /** The only one who may call; anybody unless told. */
  readonly user?: { readonly username: string; readonly password: string };
};

/** How many calls are open, by kind. */
export type OpenCalls = { append: number; read: number; subscribe: number };

/** A running double. */
export type EventStoreDouble = {
  readonly port: number;
  readonly connectionString: string;
  /** Has calls go wrong from now on. */
  readonly misbehave: (fault: Fault) => void;
  /** Calls go right again. */
  readonly behave: () => void;
  /** Does that to every subscription that is open. */
  readonly subscriptions: (how: Act) => void;
  readonly openCalls: () => Readonly<OpenCalls>;
  /** How many calls have met a fault. */
  readonly faultsMet: () => number;
  /** How many subscriptions are served. */
  readonly subscribed: () => number;
  /** A stream's events, as they are held. */
  readonly held: (stream: string) => readonly Held[];
  /** Appends without a client, as another program does. */
  readonly append: (stream: string, expected: Expected, events: readonly Proposed[]) => Outcome;
  readonly close: () => Promise<void>;
};

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** The events of the server's own: one that shows in its type alone, one in its stream alone. */
const ownEvents = (n: number): readonly (Proposed & { stream: string })[] => {
  const id = `00000000-0000-4000-9000-${n.toString(16).padStart(12, '0')}`;
  const common = { contentType: 'application/json', data: base64({ n }), metadata: '' };
  return [
    { ...common, id, stream: 'links', type: '$>' },
    { ...common, id, stream: '$settings', type: 'SettingsChanged' },
  ];
};

const gossip =
  (port: () => number, meet: () => Fault | undefined) =>
  (_: ServerUnaryCall<Empty, ClusterInfo>, answer: sendUnaryData<ClusterInfo>): void => {
    const fault = meet();
    if (fault?.how === 'silent') return;
    if (fault !== undefined) return answer(failureOf(fault) ?? null);
    const member = new gossipPb.MemberInfo()
      .setInstanceId(uuidOf('00000000-0000-4000-8000-000000000001'))
      .setTimeStamp('0')
      .setState(gossipPb.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossipPb.EndPoint().setAddress('127.0.0.1').setPort(port()));
    answer(null, new gossipPb.ClusterInfo().setMembersList([member]));
  };

const features = (_: unknown, answer: sendUnaryData<SupportedMethods>): void => {
  const methods = ['append', 'batchappend', 'read'].map((name) =>
    new featuresPb.SupportedMethod()
      .setServiceName('event_store.client.streams.streams')
      .setMethodName(name)
      .setFeaturesList([]),
  );
  answer(
    null,
    new featuresPb.SupportedMethods().setEventStoreServerVersion('24.10.0').setMethodsList(methods),
  );
};

const createOpenCalls = () => {
  const open: OpenCalls = { append: 0, read: 0, subscribe: 0 };
  type Ending = { on(event: 'close' | 'cancelled', listener: () => void): unknown };
  /** Counts the call until it is said to have ended, or its client has gone. */
  const opened = (call: Ending, kind: keyof OpenCalls): (() => void) => {
    let isOpen = true;
    open[kind] += 1;
    const ended = (): void => {
      if (isOpen) open[kind] -= 1;
      isOpen = false;
    };
    call.on('cancelled', ended);
    return ended;
  };
  return { open, opened };
};

const listen = (server: Server, { port = 0, tls }: DoubleOptions): Promise<number> => {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.certificate }]);
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
};

/** Refuses, as the server does, who is not the user. */
const createGate =
  ({ user }: DoubleOptions) =>
  (metadata: Metadata): ServiceError | undefined => {
    if (user === undefined) return undefined;
    const expected = `Basic ${btoa(`${user.username}:${user.password}`)}`;
    return metadata.get('authorization')[0] === expected ? undefined : unauthenticated();
  };

/**
 * A test double of EventStoreDB: a server of its protocol, made from the service definitions that the client package
 * ships, on a log in memory (and in a file, where one is named). It appends, reads and serves subscriptions as the
 * real one does towards a client, and goes wrong on demand. It proves nothing about a real server's disk, cluster or
 * access control.
 */
export const startEventStoreDouble = async (options: DoubleOptions = {}): Promise<EventStoreDouble> => {
  const log = openLog(options.file);
  const faults = createFaults();
  const { open, opened } = createOpenCalls();
  const subscribed = new Set<Subscribed>();
  const refuse = createGate(options);
  let appends = 0;
  const append: EventStoreDouble['append'] = (stream, expected, events) => {
    const outcome = log.append(stream, expected, events);
    appends += 1;
    if (appends % ownEventsEvery === 0)
      for (const { stream: own, ...event } of ownEvents(appends)) log.append(own, 'any', [event]);
    return outcome;
  };
  const needs = {
    append,
    refuse,
    meet: () => faults.meet('append'),
    opened: (call: Parameters<typeof opened>[0]) => opened(call, 'append'),
  };
  const server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 });
  server.addService(streamsGrpc.StreamsService, {
    read: createRead({ log, refuse, meet: faults.meet, opened, subscribed }),
    append: createAppend(needs),
    batchAppend: createBatchAppend(needs),
  });
  server.addService(gossipGrpc.GossipService, {
    read: gossip(
      () => port,
      () => faults.meet('gossip'),
    ),
  });
  server.addService(featuresGrpc.ServerFeaturesService, { getSupportedMethods: features });
  const port = await listen(server, options);
  return {
    port,
    connectionString: `esdb://127.0.0.1:${port}?tls=${options.tls !== undefined}`,
    misbehave: faults.add,
    behave: faults.clear,
    subscriptions: (how) => {
      for (const subscription of subscribed) subscription.act(how);
    },
    openCalls: () => ({ ...open }),
    faultsMet: faults.met,
    subscribed: () => subscribed.size,
    held: (stream) => log.stream(stream) ?? [],
    append,
    close: async () => {
      server.forceShutdown();
      log.close();
    },
  };
};
