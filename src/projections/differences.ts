import type { Position } from '../core/event.ts';
import { pageItemsMax, type PageRequest, type ReadModels } from '../core/ports.ts';
import { apiKeyStanding, type ApiKey } from './api-keys.ts';
import { statusOf, type Credential } from './credentials.ts';
import type { EventReference } from './event-reference.ts';
import { findEnd, tombstone } from './revocations.ts';
import type { ServiceAccount } from './service-accounts.ts';
import type { Tenant } from './tenants.ts';

/** The most things that one diff looks at. */
const thingsMax = 10_000;

/** The most documents that are looked through for what expired meanwhile. */
const documentsScannedMax = 100_000;

/** Things that are looked at before other requests have their turn. */
const thingsPerTurn = 50;

/** What a diff tells of, as it names them. */
export const diffKinds = [
  'tenant',
  'user',
  'service_account',
  'credential',
  'api_key',
  'agent',
  'thread',
  'workflow',
] as const;

/** One of them. */
export type DiffKind = (typeof diffKinds)[number];

/** The read models as they were at a moment. */
export type Then = { readonly reads: ReadModels; readonly position: Position; readonly timeMs: number };

/** An event between the two moments, without secrets. */
export type Happened = EventReference & { readonly data: Readonly<Record<string, unknown>> };

/** What differs between two moments: as the lists showed it at each, and by which events. */
export type Difference = {
  readonly kind: DiffKind;
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly before: object | null;
  readonly after: object | null;
  readonly events: readonly EventReference[];
};

/** More than one answer holds. */
export class TooManyDifferences extends Error {
  override readonly name = 'TooManyDifferences';
}

/** One thing that may differ: where its document is, and which life of its tenant it belongs to. */
type Thing = {
  readonly kind: DiffKind;
  readonly id: string;
  readonly documentId: string;
  readonly incarnation: string;
};

type Touched = Thing & { readonly events: EventReference[] };

const models = {
  tenant: 'tenants',
  user: 'users',
  service_account: 'service_accounts',
  credential: 'credentials',
  api_key: 'api_keys',
  agent: 'agents',
  thread: 'threads',
  workflow: 'workflows',
} as const satisfies { readonly [K in DiffKind]: string };

/** What events speak of, by how their types begin. */
const kindsByNoun: ReadonlyMap<string, DiffKind> = new Map([
  ['Tenant', 'tenant'],
  ['User', 'user'],
  ['ServiceAccount', 'service_account'],
  ['Credential', 'credential'],
  ['ApiKey', 'api_key'],
  ['Agent', 'agent'],
  ['Thread', 'thread'],
  ['Workflow', 'workflow'],
]);

/** What else happens shows in no list. */
const kindOf = (type: string): DiffKind | undefined =>
  kindsByNoun.get(/^(\w+?)(?:Created|Changed|Deleted|Minted|Revoked|Rolled)$/.exec(type)?.[1] ?? '');

const thingOf = ({ type, data }: Happened): Thing | undefined => {
  const kind = kindOf(type);
  if (kind === undefined) return undefined;
  const said = (name: string): string => String(data[name]);
  const incarnation = said('incarnation');
  const of = (id: string, documentId = id): Thing => ({ kind, id, documentId, incarnation });
  switch (kind) {
    case 'tenant':
      return of(said('tenant_id'));
    case 'user':
      return of(said('user_id'), `${incarnation}/${said('username').toLowerCase()}`);
    case 'service_account':
      return of(said('service_account_id'));
    case 'credential':
      return of(said('username'));
    case 'api_key':
      return of(said('api_key_id'));
    case 'agent':
    case 'thread':
    case 'workflow':
      return of(said('id'), `${incarnation}/${said('id')}`);
  }
};

/** What one life of a thing is told by: a tenant's id has several, and so has a username. */
const keyOf = ({ kind, id, incarnation }: Thing): string => `${kind} ${kind === 'tenant' ? incarnation : id}`;

/** A thing as its list showed it; absent where it is not there, or another of its name is. */
const viewOf = async (
  { kind, id, incarnation }: Thing,
  document: unknown,
  { reads, timeMs }: Then,
): Promise<object | null> => {
  switch (kind) {
    case 'tenant': {
      const tenant = document as Tenant;
      return tenant.incarnation === incarnation ? { id, created_at: tenant.created_at } : null;
    }
    case 'user':
      return (document as { readonly id: string }).id === id ? (document as object) : null;
    case 'service_account': {
      const { incarnation: _, ...account } = document as ServiceAccount;
      return account;
    }
    case 'credential': {
      const credential = document as Credential;
      const { incarnation: _, password_digest: __, granted_by: ___, tenant_id: tenant, ...rest } = credential;
      return { ...rest, tenant, status: await statusOf(reads, credential, timeMs) };
    }
    case 'api_key': {
      const { incarnation: _, user_id: __, ...key } = document as ApiKey;
      return { ...key, status: await apiKeyStanding(reads, document as ApiKey, timeMs) };
    }
    case 'agent':
    case 'thread':
    case 'workflow':
      return document as object;
  }
};

/** Shows things as they were at a moment; a tenant that has ended has taken everything with it. */
const createShow = (then: Then) => {
  const alive = new Map<string, Promise<boolean>>();
  const isAlive = (incarnation: string): Promise<boolean> => {
    const known =
      alive.get(incarnation) ??
      findEnd(then.reads, [tombstone.tenant(incarnation)]).then((end) => end === undefined);
    alive.set(incarnation, known);
    return known;
  };
  return async (thing: Thing): Promise<object | null> => {
    const document = await then.reads.documents(models[thing.kind]).get(thing.documentId);
    return document === undefined || !(await isAlive(thing.incarnation))
      ? null
      : viewOf(thing, document, then);
  };
};

/** The things that may differ, each once, with the events that may have done it. */
const createTouched = () => {
  const all = new Map<string, Touched>();
  return {
    all,
    touch: (thing: Thing, event?: EventReference): void => {
      const key = keyOf(thing);
      const known = all.get(key) ?? { ...thing, events: [] };
      if (!all.has(key)) all.set(key, known);
      if (event !== undefined) known.events.push(event);
      if (all.size > thingsMax) throw new TooManyDifferences(`More than ${thingsMax} things were touched.`);
    },
  };
};

type Touch = ReturnType<typeof createTouched>['touch'];

/** Every document of a list, a page at a time; `onto` counts them over all lists. */
async function* documentsOf<D>(
  reads: ReadModels,
  model: string,
  list: Pick<PageRequest, 'group' | 'subgroup' | 'after'>,
  onto: { scanned: number },
): AsyncGenerator<D, void> {
  for (let { after } = list; ;) {
    const page = await reads
      .documents<D>(model)
      .page({ ...list, limit: pageItemsMax, ...(after === undefined ? {} : { after }) });
    onto.scanned += page.length;
    if (onto.scanned > documentsScannedMax)
      throw new TooManyDifferences(`More than ${documentsScannedMax} documents would be looked through.`);
    for (const { document } of page) yield document;
    if (page.length < pageItemsMax) return;
    after = page.at(-1)?.created;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What belonged to a tenant's life and ended with it. */
const touchTenant = async (
  { reads }: Then,
  incarnation: string,
  event: EventReference,
  touch: Touch,
  onto: { scanned: number },
): Promise<void> => {
  for (const kind of diffKinds) {
    if (kind === 'tenant') continue;
    const list = kind === 'service_account' ? { subgroup: incarnation } : { group: incarnation };
    const documents = documentsOf<Readonly<Record<string, string>>>(reads, models[kind], list, onto);
    for await (const { id: own = '', username = '' } of documents) {
      const id = kind === 'credential' ? username : own;
      const documentId =
        kind === 'user'
          ? `${incarnation}/${username.toLowerCase()}`
          : kind === 'agent' || kind === 'thread' || kind === 'workflow'
            ? `${incarnation}/${id}`
            : id;
      touch({ kind, id, documentId, incarnation }, event);
    }
  }
};

/** What the clock alone ended between the moments. */
const touchExpired = async (
  before: Then,
  after: Then,
  incarnation: string | undefined,
  credentialsBehind: Position,
  touch: Touch,
  onto: { scanned: number },
): Promise<void> => {
  const list = incarnation === undefined ? {} : { group: incarnation };
  const isMeanwhile = (at: string | null): boolean =>
    at !== null && Date.parse(at) > before.timeMs && Date.parse(at) <= after.timeMs;
  const minted = { ...list, after: credentialsBehind };
  for await (const it of documentsOf<Credential>(before.reads, 'credentials', minted, onto)) {
    const { username: id, incarnation: own } = it;
    if (isMeanwhile(it.expires_at)) touch({ kind: 'credential', id, documentId: id, incarnation: own });
  }
  for await (const { id, incarnation: own, expires_at } of documentsOf<ApiKey>(
    before.reads,
    'api_keys',
    list,
    onto,
  ))
    if (isMeanwhile(expires_at)) touch({ kind: 'api_key', id, documentId: id, incarnation: own });
};

/** Between which moments, where, and what happened meanwhile. */
export type DiffInput = {
  readonly before: Then;
  readonly after: Then;
  /** Only what is of this tenant; all where absent. */
  readonly tenant?: string | undefined;
  /** Behind here stand the credentials that had not expired at the first moment. */
  readonly credentialsBehind: Position;
  /** Every event between the two, in order; of the tenant alone where one is named. */
  readonly events: AsyncIterable<Happened>;
};

/**
 * What differs between two moments, in the order in which it was first touched; what the clock alone did stands last.
 * What came and went between them is no difference. Throws `TooManyDifferences` where one answer can't hold it.
 */
export const differencesBetween = async (input: DiffInput): Promise<readonly Difference[]> => {
  const { before, after, tenant, credentialsBehind, events } = input;
  const { all, touch } = createTouched();
  const onto = { scanned: 0 };
  for await (const event of events) {
    const thing = thingOf(event);
    if (thing === undefined) continue;
    const { data, ...reference } = event;
    touch(thing, reference);
    if (event.type === 'TenantDeleted') await touchTenant(before, thing.incarnation, reference, touch, onto);
    if (event.type !== 'ServiceAccountDeleted' || data['credentials'] !== 'revoke') continue;
    const minted = documentsOf<Credential>(after.reads, 'credentials', { subgroup: thing.id }, onto);
    for await (const { username: id, incarnation, expires_at } of minted) {
      // What had expired by then was not ended by it.
      if (expires_at > event.time) touch({ kind: 'credential', id, documentId: id, incarnation }, reference);
    }
  }
  const alive =
    tenant === undefined ? undefined : await before.reads.documents<Tenant>('tenants').get(tenant);
  if (tenant === undefined || alive !== undefined)
    await touchExpired(before, after, alive?.incarnation, credentialsBehind, touch, onto);

  const [showBefore, showAfter] = [createShow(before), createShow(after)];
  const differences: Difference[] = [];
  let looked = 0;
  for (const { events: by, ...thing } of all.values()) {
    const [was, is] = [await showBefore(thing), await showAfter(thing)];
    if (JSON.stringify(was) !== JSON.stringify(is)) {
      const change = was === null ? 'added' : is === null ? 'removed' : 'changed';
      differences.push({ kind: thing.kind, id: thing.id, change, before: was, after: is, events: by });
    }
    if (++looked % thingsPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return differences;
};
