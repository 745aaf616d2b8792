import { randomUUID } from 'node:crypto';
import type { Metadata, ServerWritableStream, ServiceError } from '@grpc/grpc-js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { Fault } from './faults.ts';
import type { Held, Log } from './log.ts';
import {
  caughtUp,
  checkpoint,
  confirmation,
  dropped,
  eventMessage,
  failureOf,
  nameOf,
  streamNotFound,
} from './messages.ts';

type Call = ServerWritableStream<ReadReq, ReadResp>;

/** What can be done to a subscription that is open: end it with an error, end it, or leave it open and say no more. */
export type Act = 'drop' | 'end' | 'mute';

/** A subscription that is open. */
export type Subscribed = { readonly act: (how: Act) => void };

/** What the handler needs around it. */
export type ReadNeeds = {
  readonly log: Log;
  readonly refuse: (metadata: Metadata) => ServiceError | undefined;
  readonly meet: (call: 'read' | 'subscribe') => Fault | undefined;
  readonly opened: (call: Call, kind: 'read' | 'subscribe') => () => void;
  readonly subscribed: Set<Subscribed>;
};

const forwards = streamsPb.ReadReq.Options.ReadDirection.FORWARDS;

/** After how many events that a filter holds back a subscription says how far it has come. */
const checkpointEvents = 32;

/** Whether a subscription's filter lets the event through. */
const filterOf = (options: ReadReq.Options): ((event: Held) => boolean) => {
  const filter = options.getFilter();
  if (filter === undefined) return () => true;
  const onStream = filter.getStreamIdentifier();
  const expression = onStream ?? filter.getEventType();
  const regex = new RegExp(expression?.getRegex() ?? '');
  const prefixes = expression?.getPrefixList() ?? [];
  return (event) => {
    const text = onStream === undefined ? event.type : event.stream;
    return prefixes.length > 0 ? prefixes.some((prefix) => text.startsWith(prefix)) : regex.test(text);
  };
};

const drained = (call: Call): Promise<void> =>
  new Promise((resolve) => {
    const resume = (): void => {
      for (const event of ['drain', 'cancelled', 'close']) call.off(event, resume);
      resolve();
    };
    for (const event of ['drain', 'cancelled', 'close']) call.on(event, resume);
  });

const write = async (call: Call, message: ReadResp): Promise<void> => {
  // Whoever reads slowly must not have the double hold the log for them.
  if (!call.write(message) && !call.cancelled && !call.destroyed) await drained(call);
};

/** The events that a read of a stream asks for, in its order; absent where there is no such stream. */
const ofStream = (log: Log, options: ReadReq.Options): readonly Held[] | undefined => {
  const wish = options.getStream();
  const all = log.stream(nameOf(wish?.getStreamIdentifier()));
  if (all === undefined || wish === undefined) return undefined;
  const isForwards = options.getReadDirection() === forwards;
  if (isForwards) return wish.hasEnd() ? [] : all.slice(wish.hasRevision() ? Number(wish.getRevision()) : 0);
  return (wish.hasRevision() ? all.slice(0, Number(wish.getRevision()) + 1) : [...all]).toReversed();
};

/** The events that a read of the log asks for: forwards with the position that it names, backwards before it. */
const ofAll = (log: Log, options: ReadReq.Options): readonly Held[] => {
  const wish = options.getAll();
  const from = wish?.hasPosition() === true ? Number(wish.getPosition()?.getCommitPosition()) : undefined;
  const isForwards = options.getReadDirection() === forwards;
  if (isForwards) {
    if (wish?.hasEnd() === true) return [];
    return from === undefined ? log.all : log.all.filter(({ position }) => position >= from);
  }
  return (from === undefined ? [...log.all] : log.all.filter(({ position }) => position < from)).toReversed();
};

const read = async (call: Call, log: Log, options: ReadReq.Options): Promise<void> => {
  const count = Number(options.getCount());
  const events = options.hasStream() ? ofStream(log, options) : ofAll(log, options);
  if (events === undefined)
    await write(call, streamNotFound(nameOf(options.getStream()?.getStreamIdentifier())));
  for (const event of (events ?? []).slice(0, count)) {
    if (call.cancelled) return;
    await write(call, eventMessage(event));
  }
  call.end();
};

/** The index of the first event behind the place where a subscription begins. */
const startOf = (log: Log, options: ReadReq.Options): number => {
  const wish = options.getAll();
  if (wish?.hasEnd() === true) return log.all.length;
  if (wish?.hasPosition() !== true) return 0;
  const after = Number(wish.getPosition()?.getCommitPosition());
  const at = log.all.findIndex(({ position }) => position > after);
  return at === -1 ? log.all.length : at;
};

const follow = async (call: Call, log: Log, options: ReadReq.Options, over: AbortSignal): Promise<void> => {
  const lets = filterOf(options);
  await write(call, confirmation(randomUUID()));
  let at = startOf(log, options);
  let heldBack = 0;
  let isCaughtUp = false;
  for (;;) {
    for (; at < log.all.length; at += 1) {
      const event = log.all[at];
      if (over.aborted || event === undefined) return;
      if (lets(event)) await write(call, eventMessage(event));
      else if (heldBack++ % checkpointEvents === 0) await write(call, checkpoint(event.position));
    }
    if (!isCaughtUp) await write(call, caughtUp());
    isCaughtUp = true;
    if (over.aborted) return;
    await log.grown(over);
  }
};

/** Reads of streams, reads of the log, and subscriptions to the log: one method of the protocol. */
export const createRead =
  ({ log, refuse, meet, opened, subscribed }: ReadNeeds) =>
  (call: Call): void => {
    const options = call.request.getOptions();
    if (options === undefined) return void call.end();
    const kind = options.hasSubscription() ? 'subscribe' : 'read';
    const ended = opened(call, kind);
    const over = new AbortController();
    const finish = (error?: ServiceError): void => {
      over.abort();
      ended();
      if (error === undefined) call.end();
      else call.emit('error', error);
    };
    const subscription: Subscribed = {
      act: (how) => {
        subscribed.delete(subscription);
        if (how === 'mute') over.abort();
        else finish(how === 'drop' ? dropped() : undefined);
      },
    };
    const leave = (): void => {
      over.abort();
      subscribed.delete(subscription);
    };
    call.on('cancelled', leave);
    call.on('close', leave);

    const refused = refuse(call.metadata);
    if (refused !== undefined) return finish(refused);
    const fault = meet(kind);
    const failure = fault === undefined ? undefined : failureOf(fault);
    if (failure !== undefined) return finish(failure);
    if (fault?.how === 'silent' || fault?.how === 'stuck') return undefined;
    if (fault?.how === 'ended') return finish();
    const begin = (): void => {
      if (kind === 'subscribe') subscribed.add(subscription);
      const work = kind === 'subscribe' ? follow(call, log, options, over.signal) : read(call, log, options);
      void work.then(() => (kind === 'read' ? ended() : undefined));
    };
    if (fault?.how === 'late') setTimeout(begin, fault.ms ?? 0);
    else begin();
  };
