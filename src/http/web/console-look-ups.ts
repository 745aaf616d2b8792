import type { ActRecord } from '../pages/console/activity.tsx';
import { RequestRefused, statusOfCode } from '../problem.ts';
import type { Answered } from './operations.ts';
import type { Visit } from './web.ts';

/** What was answered, or undefined where there is no such thing. */
export const ifThere = async <T>(answer: Promise<Answered<T>>): Promise<T | undefined> => {
  try {
    return (await answer).body;
  } catch (error) {
    if (error instanceof RequestRefused && statusOfCode(error.code) === 404) return undefined;
    throw error;
  }
};

type Named = { readonly id: string; readonly name: string };

/** What things are called, as far as they are still there. */
const namesOf = async (
  ids: Iterable<string>,
  ask: (id: string) => Promise<Answered<Named>>,
): Promise<ReadonlyMap<string, string>> => {
  const found = await Promise.all([...new Set(ids)].map((id) => ifThere(ask(id))));
  return new Map(found.flatMap((one) => (one === undefined ? [] : [[one.id, one.name]])));
};

/** What these service accounts are called, as far as they are still there. */
export const accountNames = ({ call }: Visit, ids: Iterable<string>): Promise<ReadonlyMap<string, string>> =>
  namesOf(ids, (id) => call<Named>('getServiceAccount', { params: { id } }));

/** What is asked of an act to find what it names. */
type Naming = Pick<ActRecord, 'actor' | 'data' | 'tenant_id'>;

const idsOf = (acts: readonly Naming[], kind: 'service_account' | 'api_key'): readonly string[] =>
  acts.flatMap(({ actor, data }) => {
    const id = data[`${kind}_id`];
    const named = typeof id === 'string' ? [id] : [];
    return actor.startsWith(`${kind}:`) ? [...named, actor.slice(kind.length + 1)] : named;
  });

/** What the service accounts and API keys are called that acts name by their ids. */
export const namesFor = async (
  visit: Visit,
  tenant: string,
  acts: readonly Naming[],
): Promise<ReadonlyMap<string, string>> => {
  const [accounts, keys] = await Promise.all([
    accountNames(visit, idsOf(acts, 'service_account')),
    namesOf(idsOf(acts, 'api_key'), (key_id) =>
      visit.call<Named>('getTenantApiKey', { params: { id: tenant, key_id } }),
    ),
  ]);
  return new Map([...accounts, ...keys]);
};

/** The same of events of the log, which are of several tenants and of none. */
export const namesForLog = async (
  visit: Visit,
  acts: readonly Naming[],
): Promise<ReadonlyMap<string, string>> => {
  const tenants = [...new Set(acts.flatMap(({ tenant_id }) => tenant_id ?? []))];
  const found = await Promise.all(
    tenants.map((tenant) => {
      const own = acts.filter(({ tenant_id }) => tenant_id === tenant);
      return namesFor(visit, tenant, own);
    }),
  );
  return new Map(found.flatMap((names) => [...names]));
};
