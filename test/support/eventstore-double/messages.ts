import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { Fault } from './faults.ts';
import type { Held } from './log.ts';

const { ReadResp: Response } = streamsPb;

/** The text of a stream's name, as it is sent. */
export const nameOf = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');

/** A stream's name, as it is sent. */
export const identifierOf = (name: string): StreamIdentifier =>
  new sharedPb.StreamIdentifier().setStreamName(Uint8Array.from(Buffer.from(name, 'utf8')));

/** An id, as it is sent. */
export const uuidOf = (id: string): UUID => new sharedPb.UUID().setString(id);

/** An event, as a read answers it. */
export const eventMessage = (event: Held): ReadResp => {
  const recorded = new Response.ReadEvent.RecordedEvent()
    .setId(uuidOf(event.id))
    .setStreamIdentifier(identifierOf(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(String(event.position))
    .setPreparePosition(String(event.position))
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  recorded.getMetadataMap().set('type', event.type);
  recorded.getMetadataMap().set('content-type', event.contentType);
  recorded.getMetadataMap().set('created', '638677440000000000');
  const message = new Response.ReadEvent().setEvent(recorded).setCommitPosition(String(event.position));
  return new Response().setEvent(message);
};

/** The first answer to a subscription. */
export const confirmation = (id: string): ReadResp =>
  new Response().setConfirmation(new Response.SubscriptionConfirmation().setSubscriptionId(id));

/** How far a filtered subscription has come. */
export const checkpoint = (position: number): ReadResp =>
  new Response().setCheckpoint(
    new Response.Checkpoint().setCommitPosition(String(position)).setPreparePosition(String(position)),
  );

/** A subscription has given all there is. */
export const caughtUp = (): ReadResp => new Response().setCaughtUp(new Response.CaughtUp());

/** There is no such stream. */
export const streamNotFound = (name: string): ReadResp =>
  new Response().setStreamNotFound(new Response.StreamNotFound().setStreamIdentifier(identifierOf(name)));

const failure = (code: status, details: string, exception: Record<string, string> = {}): ServiceError => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(exception)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
};

/** More than a server takes in one append. */
export const appendTooLarge = (bytesMax: number): ServiceError =>
  failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${bytesMax} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(bytesMax),
  });

/** The error with which a call of that fault ends; absent where it is no error. */
export const failureOf = ({ how, leader }: Fault): ServiceError | undefined => {
  switch (how) {
    case 'unavailable':
    case 'lost-answer':
      return failure(status.UNAVAILABLE, 'The double was told to be away.');
    case 'not-ready':
      return failure(status.UNKNOWN, 'Server Is Not Ready');
    case 'not-leader':
      return failure(status.NOT_FOUND, 'Leader info available', {
        exception: 'not-leader',
        'leader-endpoint-host': leader?.host ?? '127.0.0.1',
        'leader-endpoint-port': String(leader?.port ?? 0),
      });
    case 'late':
    case 'silent':
    case 'stuck':
    case 'wrong-version':
    case 'ended':
      return undefined;
  }
};

/** How a server ends a subscription that it has given up. */
export const dropped = (): ServiceError => failure(status.CANCELLED, 'The double dropped the subscription.');

/** Who calls is not known. */
export const unauthenticated = (): ServiceError => failure(status.UNAUTHENTICATED, 'Unauthenticated');
