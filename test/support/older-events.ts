import type { NewEvent } from '../../src/core/event.ts';

type Older = { readonly id: string; readonly life: number };

/** Before version 1 there was, let us say, a version 0 that counted the lives of a tenant id from 0. */
export const olderUpcasts: Readonly<Record<string, Record<number, (data: unknown) => unknown>>> = {
  TenantCreated: { 0: (data) => risen(data as Older) },
  TenantDeleted: { 0: (data) => risen(data as Older) },
};

const risen = ({ id, life }: Older): object => ({ tenant_id: id, incarnation: `${id}~${life + 1}` });

/** The event as version 0 would have written it; others as they are. */
export const asOlder = <E extends NewEvent>(event: E): E => {
  if (olderUpcasts[event.type] === undefined) return event;
  const { tenant_id, incarnation } = JSON.parse(event.data) as { tenant_id: string; incarnation: string };
  const life = Number(incarnation.slice(tenant_id.length + 1)) - 1;
  return { ...event, version: 0, data: JSON.stringify({ id: tenant_id, life } satisfies Older) };
};
