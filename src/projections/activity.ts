import type { RecordedEvent } from '../core/event.ts';
import type { Projection } from '../core/projection.ts';
import { catalogue } from '../events/index.ts';
import { withoutSecrets } from './without-secrets.ts';

/** One act in a tenant as the operator sees it: an event without its secrets. */
export type Act = {
  readonly id: string;
  readonly position: string;
  readonly type: string;
  readonly time: string;
  readonly actor: string;
  readonly address: string | null;
  readonly reason: string | null;
  readonly correlation_id: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * Not an act of anybody: the one is stated every few minutes for as long as a key is in use, the other is about the whole
 * log, and so long that nobody should read it in vain.
 */
const leftOut = new Set(['ApiKeyUsed', 'LogSealed']);

type OfTenant = RecordedEvent<{ readonly type: string; readonly data: { readonly tenant_id?: string } }>;

const actOf = ({ id, position, type, time, cause, data }: OfTenant): Act => ({
  id,
  position,
  type,
  time,
  actor: cause.actor,
  address: cause.address,
  reason: cause.reason,
  correlation_id: cause.correlation_id,
  data: withoutSecrets({ type, data }),
});

/** What one event adds: a document of its own, where it names a tenant. */
const taken = (event: RecordedEvent) => {
  const act: OfTenant = event;
  const { tenant_id: group } = act.data;
  return group === undefined ? [] : [{ id: act.position, group, to: () => actOf(act) }];
};

/** Every act in a tenant, listed by the tenant's id: all its lives are there, for the operator's eyes. */
export const activity: Projection = {
  name: 'activity',
  version: 2,
  kind: 'log',
  group: (act) => (act as Act).data['tenant_id'] as string,
  on: Object.fromEntries(
    [...catalogue.keys()].filter((type) => !leftOut.has(type)).map((type) => [type, taken]),
  ),
};
