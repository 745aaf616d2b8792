import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import type {
  Metadata,
  sendUnaryData,
  ServerDuplexStream,
  ServerReadableStream,
  ServiceError,
} from '@grpc/grpc-js';
import codePb from '@eventstore/db-client/generated/code_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { Fault } from './faults.ts';
import type { Expected, Outcome, Proposed } from './log.ts';
import { appendTooLarge, failureOf, identifierOf, nameOf } from './messages.ts';

/** The server's own limit for one append as it comes, in bytes. */
const appendBytesMax = 1_048_576;

/** What the handlers need around them. */
export type AppendNeeds = {
  readonly append: (stream: string, expected: Expected, events: readonly Proposed[]) => Outcome;
  readonly refuse: (metadata: Metadata) => ServiceError | undefined;
  readonly meet: () => Fault | undefined;
  readonly opened: (call: { on(event: 'close' | 'cancelled', listener: () => void): unknown }) => () => void;
};

type Message = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;

const proposed = (message: Message): Proposed => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asB64(),
  metadata: message.getCustomMetadata_asB64(),
});

const bytesOf = (events: readonly Proposed[]): number =>
  events.reduce((sum, { data, metadata }) => sum + ((data.length + metadata.length) * 3) / 4, 0);

type ExpectedOptions = {
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
};

const expectedOf = (options: ExpectedOptions | undefined, revision: string | undefined): Expected => {
  if (options === undefined || options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'none';
  return options.hasStreamExists() ? 'exists' : Number(revision);
};

const unaryAnswer = (outcome: Outcome): AppendResp => {
  const { AppendResp: Response } = streamsPb;
  if ('wrong' in outcome) {
    const wrong = new Response.WrongExpectedVersion();
    if (outcome.wrong === 'none') wrong.setCurrentNoStream(new sharedPb.Empty());
    else wrong.setCurrentRevision(String(outcome.wrong));
    return new Response().setWrongExpectedVersion(wrong);
  }
  const last = outcome.held.at(-1);
  const position = new Response.Position()
    .setCommitPosition(String(last?.position ?? 0))
    .setPreparePosition(String(last?.position ?? 0));
  return new Response().setSuccess(
    new Response.Success().setCurrentRevision(String(last?.revision ?? 0)).setPosition(position),
  );
};

const wrongStatus = (wrong: number | 'none') => {
  const details = new sharedPb.WrongExpectedVersion();
  if (wrong === 'none') details.setCurrentNoStream(new emptyPb.Empty());
  else details.setCurrentStreamRevision(String(wrong));
  const any = new anyPb.Any();
  any.pack(details.serializeBinary(), 'event_store.client.WrongExpectedVersion');
  return new statusPb.Status()
    .setCode(codePb.Code.ALREADY_EXISTS)
    .setMessage('WrongExpectedVersion')
    .setDetails(any);
};

const batchAnswer = (outcome: Outcome): BatchAppendResp => {
  const { BatchAppendResp: Response } = streamsPb;
  if ('wrong' in outcome) return new Response().setError(wrongStatus(outcome.wrong));
  const last = outcome.held.at(-1);
  const position = new sharedPb.AllStreamPosition()
    .setCommitPosition(String(last?.position ?? 0))
    .setPreparePosition(String(last?.position ?? 0));
  return new Response().setSuccess(
    new Response.Success().setCurrentRevision(String(last?.revision ?? 0)).setPosition(position),
  );
};

const writing: readonly Fault['how'][] = ['lost-answer', 'late', 'silent'];

const doesWrite = ({ how }: Fault): boolean => writing.includes(how);

/** One call for one append. */
export const createAppend =
  ({ append, refuse, meet, opened }: AppendNeeds) =>
  (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>): void => {
    const ended = opened(call);
    const events: Proposed[] = [];
    let stream = '';
    let expected: Expected = 'any';
    call.on('data', (request: AppendReq) => {
      const options = request.getOptions();
      if (options !== undefined) {
        stream = nameOf(options.getStreamIdentifier());
        expected = expectedOf(options, options.getRevision());
      }
      const message = request.getProposedMessage();
      if (message !== undefined) events.push(proposed(message));
    });
    call.on('end', () => {
      const say: typeof answer = (...args) => {
        ended();
        answer(...args);
      };
      const refused = refuse(call.metadata);
      if (refused !== undefined) return say(refused);
      const fault = meet();
      if (fault?.how === 'wrong-version') return say(null, unaryAnswer({ wrong: 41 }));
      if (fault !== undefined && !doesWrite(fault)) return say(failureOf(fault) ?? null);
      if (bytesOf(events) > appendBytesMax) return say(appendTooLarge(appendBytesMax));
      const outcome = append(stream, expected, events);
      const failure = fault === undefined ? undefined : failureOf(fault);
      if (failure !== undefined) return say(failure);
      if (fault?.how === 'silent' || fault?.how === 'stuck') return undefined;
      if (fault?.how === 'late') return void setTimeout(() => say(null, unaryAnswer(outcome)), fault.ms ?? 0);
      return say(null, unaryAnswer(outcome));
    });
  };

type Batch = { stream: string; expected: Expected; events: Proposed[] };

/** One call for many appends, each told by its correlation. */
export const createBatchAppend =
  ({ append, refuse, meet, opened }: AppendNeeds) =>
  (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void => {
    const ended = opened(call);
    const batches = new Map<string, Batch>();
    let isStuck = false;
    const refused = refuse(call.metadata);
    if (refused !== undefined) return void call.emit('error', refused);
    call.on('data', (request: BatchAppendReq) => {
      const correlation = request.getCorrelationId();
      const id = correlation?.getString() ?? '';
      const options = request.getOptions();
      const batch: Batch = batches.get(id) ?? {
        stream: nameOf(options?.getStreamIdentifier()),
        expected: expectedOf(options, options?.getStreamPosition()),
        events: [],
      };
      batches.set(id, batch);
      batch.events.push(...request.getProposedMessagesList().map(proposed));
      if (!request.getIsFinal()) return;
      batches.delete(id);
      if (isStuck) return;
      const fault = meet();
      isStuck = fault?.how === 'stuck';
      const failure = fault === undefined ? undefined : failureOf(fault);
      const say = (outcome: Outcome): void => {
        const response = batchAnswer(outcome).setStreamIdentifier(identifierOf(batch.stream));
        call.write(response.setCorrelationId(correlation));
      };
      if (fault?.how === 'wrong-version') return say({ wrong: 41 });
      const isDone = fault === undefined || doesWrite(fault);
      const outcome = isDone ? append(batch.stream, batch.expected, batch.events) : undefined;
      if (failure !== undefined) return void call.emit('error', failure);
      if (fault?.how === 'ended') {
        ended();
        return void call.end();
      }
      if (outcome === undefined || fault?.how === 'silent') return undefined;
      if (fault?.how === 'late') return void setTimeout(() => say(outcome), fault.ms ?? 0);
      return say(outcome);
    });
    call.on('end', () => {
      ended();
      call.end();
    });
  };
