import { z } from 'zod';
import type { Codec, RecordedEvent } from '../core/event.ts';
import { AgentChanged, AgentCreated, AgentDeleted, type AgentFact } from './agent.ts';
import {
  ApiKeyCreated,
  ApiKeyRevoked,
  ApiKeyRolled,
  ApiKeyUsed,
  type ApiKeyFact,
  type ApiKeyUseFact,
} from './api-key.ts';
import { CredentialMinted, CredentialRevoked, type CredentialFact } from './credential.ts';
import type { EventDefinition } from './definition.ts';
import { LogSealed, type CheckpointFact } from './checkpoint.ts';
import { RequestsRefused, type RequestFact } from './request.ts';
import {
  ServiceAccountBearerRotated,
  ServiceAccountCreated,
  ServiceAccountDeleted,
  type ServiceAccountFact,
} from './service-account.ts';
import { OperatorSignedIn, SignedOut, UserSignedIn, type SessionFact } from './session.ts';
import { TenantCreated, TenantDeleted, type TenantFact } from './tenant.ts';
import { ThreadChanged, ThreadCreated, ThreadDeleted, type ThreadFact } from './thread.ts';
import { upcasts } from './upcasts.ts';
import { UserCreated, UserDeleted, type UserFact } from './user.ts';
import { WorkflowChanged, WorkflowCreated, WorkflowDeleted, type WorkflowFact } from './workflow.ts';

/** Every fact the log can hold. */
export type DomainFact =
  | TenantFact
  | UserFact
  | ServiceAccountFact
  | CredentialFact
  | ApiKeyFact
  | ApiKeyUseFact
  | SessionFact
  | RequestFact
  | CheckpointFact
  | AgentFact
  | ThreadFact
  | WorkflowFact;

/** Every event of the log, decoded. */
export type DomainEvent = RecordedEvent<DomainFact>;

/** Every event type, by its stored name. */
export const catalogue: ReadonlyMap<string, EventDefinition> = new Map(
  [
    TenantCreated,
    TenantDeleted,
    UserCreated,
    UserDeleted,
    ServiceAccountCreated,
    ServiceAccountBearerRotated,
    ServiceAccountDeleted,
    CredentialMinted,
    CredentialRevoked,
    ApiKeyCreated,
    ApiKeyRolled,
    ApiKeyRevoked,
    ApiKeyUsed,
    UserSignedIn,
    OperatorSignedIn,
    SignedOut,
    RequestsRefused,
    LogSealed,
    AgentCreated,
    AgentChanged,
    AgentDeleted,
    ThreadCreated,
    ThreadChanged,
    ThreadDeleted,
    WorkflowCreated,
    WorkflowChanged,
    WorkflowDeleted,
  ].map((definition) => [definition.type, definition as EventDefinition]),
);

/** Who asked and how, as stored beside every event. */
const cause = z.object({
  actor: z.string(),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
  reason: z.string().nullable(),
  correlation_id: z.string(),
  causation_id: z.string().nullable(),
  token: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .exactOptional(),
});

/** Stored bytes that no version of any event type explains: the log is damaged, or newer than this program. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
}

const definitionOf = (type: string): EventDefinition => {
  const definition = catalogue.get(type);
  if (definition === undefined) throw new UnreadableEvent(`There is no event type ${type}.`);
  return definition;
};

/** Stored data as today's version has it, walked up one version at a time. */
const upcast = ({ type, version }: EventDefinition, stored: number, data: unknown): unknown => {
  if (stored > version) throw new UnreadableEvent(`${type} version ${stored} is newer than this program.`);
  let risen = data;
  for (let from = stored; from < version; from += 1) {
    const step = upcasts[type]?.[from];
    if (step === undefined) throw new UnreadableEvent(`${type} has no upcast from version ${from}.`);
    risen = step(risen);
  }
  return risen;
};

/** The one border between facts and bytes: whatever passes has been parsed by its schema, in both directions. */
export const codec: Codec<DomainFact> = {
  encode(fact, { id, time, cause: who }) {
    const { version, data } = definitionOf(fact.type);
    return {
      id,
      type: fact.type,
      version,
      time,
      data: JSON.stringify(data.parse(fact.data)),
      cause: JSON.stringify(who),
    };
  },
  decode(event) {
    try {
      const definition = definitionOf(event.type);
      return {
        ...event,
        // The program's own string: each that is read is a new one, and would be looked up anew by whoever asks.
        type: definition.type,
        version: definition.version,
        data: definition.data.parse(upcast(definition, event.version, JSON.parse(event.data))),
        cause: cause.parse(JSON.parse(event.cause)),
      } as DomainEvent;
    } catch (error) {
      const at = `event ${event.id} at position ${event.position}`;
      throw new UnreadableEvent(`Cannot read ${at}.`, { cause: error });
    }
  },
};
