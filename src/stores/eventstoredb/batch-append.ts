import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerNewEvent } from './envelope.ts';
import { answered, AppendTooLarge, ServerFailure } from './failure.ts';

/** What became of an append: a lost race is a value. */
export type ServerAppended =
  | { readonly appended: true; readonly position: bigint | undefined }
  | { readonly appended: false; readonly current: bigint | 'none' };

/** One append to a stream that ends at `expected`. */
export type ServerAppend = {
  readonly stream: string;
  readonly expected: bigint | 'none';
  readonly events: readonly ServerNewEvent[];
};

/** An open call of the protocol's `BatchAppend`. */
export type BatchAppendCall = {
  on(event: 'data', listener: (response: BatchAppendResp) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  write(request: BatchAppendReq): boolean;
  cancel(): void;
};

/** Numbers from here on are the server's `-1`: there is none. */
const noNumber = 1n << 63n;

/** A number of the server's; absent where it says that there is none. */
export const numberOf = (value: bigint | undefined): bigint | undefined =>
  value === undefined || value >= noNumber ? undefined : value;

const encoder = new TextEncoder();
const bytesOf = (text: string): Uint8Array => encoder.encode(text);

const uuidOf = (id: string) => new sharedPb.UUID().setString(id);

const proposedMessage = ({ id, type, data, metadata }: ServerNewEvent) => {
  const message = new streamsPb.BatchAppendReq.ProposedMessage()
    .setId(uuidOf(id))
    .setData(bytesOf(data))
    .setCustomMetadata(bytesOf(metadata));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return message;
};

/** Without a deadline: the protocol's is a time of day, and a clock that is behind would refuse every append. */
const requestOf = (correlation: string, { stream, expected, events }: ServerAppend): BatchAppendReq => {
  const options = new streamsPb.BatchAppendReq.Options().setStreamIdentifier(
    new sharedPb.StreamIdentifier().setStreamName(bytesOf(stream)),
  );
  if (expected === 'none') options.setNoStream(new sharedPb.Empty());
  else options.setStreamPosition(String(expected));
  return new streamsPb.BatchAppendReq()
    .setCorrelationId(uuidOf(correlation))
    .setOptions(options)
    .setProposedMessagesList(events.map(proposedMessage))
    .setIsFinal(true);
};

/** The server's error, as a value where it is a lost race. Throws what else it is. */
const refusedAs = (response: BatchAppendResp): ServerAppended => {
  const error = response.getError();
  const name = error?.getDetails()?.getTypeName() ?? '';
  switch (name) {
    case 'event_store.client.WrongExpectedVersion': {
      const wrong = error?.getDetails()?.unpack(sharedPb.WrongExpectedVersion.deserializeBinary, name);
      const current =
        wrong?.hasCurrentStreamRevision() === true ? BigInt(wrong.getCurrentStreamRevision()) : undefined;
      return { appended: false, current: numberOf(current) ?? 'none' };
    }
    case 'event_store.client.MaximumAppendSizeExceeded':
      throw new AppendTooLarge('The append is larger than the server takes.');
    case 'event_store.client.AccessDenied':
      throw new ServerFailure('denied', 'the server denies access');
    case 'event_store.client.StreamDeleted':
    case 'event_store.client.BadRequest':
      throw new Error(`The server refuses the append: ${name} ${error?.getMessage() ?? ''}`);
    // The server's own timeout, one that starts or is too busy, and what later versions may say.
    default:
      throw new ServerFailure('away', error?.getMessage() || name);
  }
};

const outcomeOf = (response: BatchAppendResp): ServerAppended => {
  const success = response.getSuccess();
  if (success === undefined) return refusedAs(response);
  const commit = success.getPosition()?.getCommitPosition();
  return { appended: true, position: numberOf(commit === undefined ? undefined : BigInt(commit)) };
};

type Waiting = { readonly take: (response: BatchAppendResp) => void; readonly fail: (error: Error) => void };

/** An open call, and the appends in it that wait for their answer. */
type Lane = {
  /** Throws where the call has ended. */
  readonly send: (append: ServerAppend) => {
    readonly answer: Promise<ServerAppended>;
    readonly left: () => void;
  };
  /** No more appends come; it ends when the last one has left. */
  readonly retire: () => void;
};

const createLane = (call: BatchAppendCall, ended: () => void): Lane => {
  const waiting = new Map<string, Waiting>();
  let sent = 0;
  let isRetired = false;
  let endedWith: Error | undefined;
  const end = (error: Error): void => {
    endedWith ??= error;
    ended();
    for (const { fail } of waiting.values()) fail(error);
    waiting.clear();
  };
  const endUnused = (): void => {
    if (isRetired && waiting.size === 0) call.cancel();
  };
  call.on('data', (response) => waiting.get(response.getCorrelationId()?.getString() ?? '')?.take(response));
  call.on('error', end);
  call.on('end', () => end(new ServerFailure('away', 'the server ended the call')));
  return {
    send: (append) => {
      if (endedWith !== undefined) throw endedWith;
      // Unique in this call, which is all that the protocol asks for.
      const correlation = `00000000-0000-4000-8000-${(sent++).toString(16).padStart(12, '0')}`;
      const answer = new Promise<BatchAppendResp>((take, fail) => waiting.set(correlation, { take, fail }));
      call.write(requestOf(correlation, append));
      const left = (): void => {
        waiting.delete(correlation);
        endUnused();
      };
      return { answer: answer.then(outcomeOf), left };
    },
    retire: () => {
      isRetired = true;
      endUnused();
    },
  };
};

/**
 * Appends that share one call, which costs a seventh of a call for each. The client package's own batch append keeps
 * its books for all its clients in one place: where one call fails, the appends of all are forgotten, and the next
 * answer to one of them throws where nobody can catch it; where a call ends without error, its appends wait for ever.
 * Here each call has its own, and every append ends in time.
 */
export const createBatchAppend = (open: () => Promise<BatchAppendCall>) => {
  let lane: Promise<Lane> | undefined;

  const enter = (): Promise<Lane> => {
    if (lane !== undefined) return lane;
    const leave = (): void => {
      if (lane === opening) lane = undefined;
    };
    const opening = open().then((call) => createLane(call, leave));
    opening.catch(leave);
    lane = opening;
    return opening;
  };

  return async (append: ServerAppend, ms: number): Promise<ServerAppended> => {
    const entered = enter();
    let isOver = false;
    let left: (() => void) | undefined;
    const send = async (): Promise<ServerAppended> => {
      const { send: sendIn } = await entered;
      if (isOver) throw new ServerFailure('silent', 'the connection came too late');
      const sent = sendIn(append);
      left = sent.left;
      return sent.answer;
    };
    try {
      return await answered('an append', ms, send());
    } catch (error) {
      // A call that is silent may stay so: the next append opens another.
      if (error instanceof ServerFailure && error.kind === 'silent') {
        if (lane === entered) lane = undefined;
        void entered.then(({ retire }) => retire()).catch(() => undefined);
      }
      throw error;
    } finally {
      isOver = true;
      left?.();
    }
  };
};
