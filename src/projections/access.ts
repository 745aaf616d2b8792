import { startOfLog, toPosition, type Position } from '../core/event.ts';
import {
  pageItemsMax,
  type Documents,
  type PageItem,
  type PageRequest,
  type ReadModels,
} from '../core/ports.ts';
import type { Role } from '../events/fields.ts';
import { minterOf, type Credential } from './credentials.ts';
import type { EventReference } from './event-reference.ts';
import { generationId, grantsOf, grantsOfUser, type Grant } from './grants.ts';
import { earliest, tombstone, type Tombstone } from './revocations.ts';
import type { Incarnation } from './tenants.ts';

/** What ended access, or will: its time, an event that was meant for it, or one that ended what it hung from. */
export type AccessEnd =
  { readonly kind: 'expiry' } | ({ readonly kind: 'event' | 'cascade' } & EventReference);

/** Who could get in, as what, from when, and until when; the end is no part of it, and can lie ahead. */
export type Access = {
  /** `user:<tenant>/<username>`, `service_account:<id>`, `credential:<username>` or `api_key:<id>`. */
  readonly principal: string;
  readonly kind: 'user' | 'service_account' | 'credential' | 'api_key';
  readonly tenant: string;
  readonly name: string;
  readonly role: Role;
  readonly write_schemas?: readonly string[];
  readonly generation?: number;
  readonly from: string;
  readonly until: string | null;
  readonly granted_by: EventReference;
  readonly ended_by: AccessEnd | null;
};

/** A time from `fromMs` to before `toMs`. */
export type Interval = { readonly fromMs: number; readonly toMs: number };

/** Where in the log the grants of an interval can stand: behind one position, and up to another. */
export type Stretch = { readonly behind: Position; readonly upTo?: Position | undefined };

/** What access is read from: a grant, or a credential, whose read model is its own. */
export type Granted = Grant | Credential;

/** Pages of grants from one list or several. */
export type GrantedPages = Pick<Documents<Granted>, 'page'>;

const isCredential = (granted: Granted): granted is Credential => 'password_digest' in granted;

/** What a grant hangs from: tombstones that were meant for it, those of what it hangs from, and its expiry. */
const endsOf = (
  granted: Granted,
): {
  readonly own: readonly string[];
  readonly above: readonly string[];
  readonly expires_at: string | null;
} => {
  const above = [tombstone.tenant(granted.incarnation)];
  if (isCredential(granted)) {
    const { username, service_account_id, expires_at } = granted;
    return {
      own: [tombstone.credential(username)],
      above: [tombstone.mintedBy(service_account_id), ...above],
      expires_at,
    };
  }
  const { id } = granted;
  switch (granted.kind) {
    case 'user':
      return { own: [tombstone.user(id)], above, expires_at: null };
    case 'service_account': {
      const own = [tombstone.bearer(id, granted.generation), tombstone.serviceAccount(id)];
      return { own, above, expires_at: null };
    }
    case 'api_key': {
      const own = [tombstone.apiKeyGeneration(id, granted.generation), tombstone.apiKey(id)];
      return { own, above, expires_at: granted.expires_at };
    }
  }
};

/** The end among what was found, as the look-ups of secrets judge it: an end at the time of expiry is expiry. */
const endOf = (
  from: string,
  own: readonly (Tombstone | undefined)[],
  above: readonly (Tombstone | undefined)[],
  expires_at: string | null,
): Pick<Access, 'until' | 'ended_by'> => {
  const end = earliest([...own, ...above]);
  if (end === undefined || (expires_at !== null && end.at >= expires_at))
    return expires_at === null
      ? { until: null, ended_by: null }
      : { until: expires_at, ended_by: { kind: 'expiry' } };
  const kind = own.includes(end) ? 'event' : 'cascade';
  // What was granted when that had ended already (of two requests at once) never worked.
  const until = end.at < from ? from : end.at;
  return { until, ended_by: end.by === undefined ? null : { kind, ...end.by } };
};

const viewOf = (
  granted: Granted,
  first: Grant | undefined,
  end: Pick<Access, 'until' | 'ended_by'>,
): Access => {
  const { tenant_id: tenant } = granted;
  if (isCredential(granted)) {
    const { username, subject: name, role, write_schemas, minted_at: from, granted_by } = granted;
    return {
      principal: `credential:${username}`,
      kind: 'credential',
      tenant,
      name,
      role,
      ...(write_schemas === undefined ? {} : { write_schemas }),
      from,
      ...end,
      granted_by: { actor: minterOf(granted), ...granted_by, type: 'CredentialMinted', time: from },
    };
  }
  const { kind, id, from, granted_by } = granted;
  const { name, role } = { ...first, ...granted };
  if (name === undefined || role === undefined)
    throw new Error(`The first generation of ${id} is not there.`);
  return {
    principal: kind === 'user' ? `user:${tenant}/${name}` : `${kind}:${id}`,
    kind,
    tenant,
    name,
    role,
    ...(granted.kind === 'user' ? {} : { generation: granted.generation }),
    from,
    ...end,
    granted_by,
  };
};

/** Where the first generation of a later one is, which has the name. */
const firstOf = (granted: Granted): string | undefined =>
  isCredential(granted) || granted.kind === 'user' || granted.generation === 1
    ? undefined
    : generationId(granted.kind, granted.id, 1);

/** Grants as access, in their order: two look-ups for all of them, and `undefined` for those outside the interval. */
export const accessOf = async (
  reads: ReadModels,
  granted: readonly Granted[],
  { fromMs, toMs }: Interval,
): Promise<readonly (Access | undefined)[]> => {
  const ends = granted.map(endsOf);
  const ids = [...new Set(ends.flatMap(({ own, above }) => [...own, ...above]))];
  const firstIds = [...new Set(granted.map(firstOf).filter((id) => id !== undefined))];
  const [laid, firsts] = await Promise.all([
    reads.documents<Tombstone>('revocations').getMany(ids),
    firstIds.length === 0 ? [] : reads.documents<Grant>('grants').getMany(firstIds),
  ]);
  const tombstones = new Map(ids.map((id, at) => [id, laid[at]]));
  const laidAt = (id: string): Tombstone | undefined => tombstones.get(id);
  const firstById = new Map(firstIds.map((id, at) => [id, firsts[at]]));
  return granted.map((one, at) => {
    const { own, above, expires_at } = ends[at] ?? { own: [], above: [], expires_at: null };
    const from = isCredential(one) ? one.minted_at : one.from;
    const end = endOf(from, own.map(laidAt), above.map(laidAt), expires_at);
    const isWithin = Date.parse(from) < toMs && (end.until === null || Date.parse(end.until) > fromMs);
    return isWithin ? viewOf(one, firstById.get(firstOf(one) ?? ''), end) : undefined;
  });
};

type Source = Stretch & {
  readonly documents: Documents<Granted>;
  readonly list: Pick<PageRequest, 'group' | 'subgroup'>;
};

/** A page of one list, cut to where its grants can stand: what lies beyond ends it. */
const pageOf = async (
  { documents, list, behind, upTo }: Source,
  { after, order = 'asc', limit }: PageRequest,
): Promise<readonly PageItem<Granted>[]> => {
  const above = upTo === undefined ? undefined : toPosition(BigInt(upTo) + 1n);
  const start =
    order === 'asc'
      ? after === undefined || after < behind
        ? behind
        : after
      : above === undefined || (after !== undefined && after < above)
        ? after
        : above;
  const page = await documents.page({
    ...list,
    order,
    limit,
    ...(start === undefined ? {} : { after: start }),
  });
  return page.filter(({ created }) => created > behind && (above === undefined || created < above));
};

/** Several lists as one, by creation: each gives as many as are wanted, and the first of all of them are the page. */
const together = (sources: readonly Source[]): GrantedPages => ({
  page: async (request) => {
    const pages = await Promise.all(sources.map((source) => pageOf(source, request)));
    const sign = request.order === 'desc' ? -1 : 1;
    return pages
      .flat()
      .toSorted((a, b) => (a.created < b.created ? -sign : sign))
      .slice(0, request.limit);
  },
});

/**
 * All that was granted in the lives of a tenant that meet an interval; absent where the id never had a life. `recent`
 * is where credentials can stand that had not expired before it. Of more lives than `pageItemsMax` the latest are looked
 * at.
 */
export const grantedIn = async (
  reads: ReadModels,
  tenantId: string,
  { fromMs, toMs }: Interval,
  { all, recent }: { readonly all: Stretch; readonly recent: Stretch },
): Promise<GrantedPages | undefined> => {
  const lives = await reads
    .documents<Incarnation>('incarnations')
    .page({ group: tenantId, order: 'desc', limit: pageItemsMax });
  if (lives.length === 0) return undefined;
  const ends = await reads
    .documents<Tombstone>('revocations')
    .getMany(lives.map(({ document }) => tombstone.tenant(document.incarnation)));
  const met = lives.filter(({ document }, at) => {
    const end = ends[at];
    return Date.parse(document.created_at) < toMs && (end === undefined || Date.parse(end.at) > fromMs);
  });
  return together(
    met.flatMap(({ document: { incarnation: group } }) => [
      { documents: reads.documents<Granted>('grants'), list: { group }, ...all },
      { documents: reads.documents<Granted>('credentials'), list: { group }, ...recent },
    ]),
  );
};

/** A list of one document, or of none. */
const only = (credential: Credential | undefined): GrantedPages => ({
  page: async ({ after, order = 'asc' }) => {
    if (credential === undefined) return [];
    const created = credential.granted_by.position;
    const isPast = after !== undefined && (order === 'asc' ? created <= after : created >= after);
    return isPast ? [] : [{ created, document: credential }];
  },
});

/** To whom access is given, by the kinds of their names. */
export type Principal =
  | { readonly kind: 'user'; readonly tenant: string; readonly username: string }
  | { readonly kind: 'service_account' | 'credential' | 'api_key'; readonly id: string };

/** All that was ever granted to a principal, in whatever life of its tenant; a user by the name in whatever case. */
export const grantedTo = async (reads: ReadModels, principal: Principal): Promise<GrantedPages> => {
  const documents = reads.documents<Granted>('grants');
  switch (principal.kind) {
    case 'user': {
      const subgroup = grantsOfUser(principal.tenant, principal.username);
      return together([{ documents, list: { subgroup }, behind: startOfLog }]);
    }
    case 'credential':
      return only(await reads.documents<Credential>('credentials').get(principal.id));
    case 'service_account':
    case 'api_key': {
      const subgroup = grantsOf(principal.kind, principal.id);
      return together([{ documents, list: { subgroup }, behind: startOfLog }]);
    }
  }
};
