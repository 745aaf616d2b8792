import type { ApiKeyRecord } from '../pages/api-keys.tsx';
import type { ActRecord } from '../pages/console/activity.tsx';
import type { ServiceAccountRecord } from '../pages/console/service-accounts.tsx';
import { RequestRefused, statusOfCode } from '../problem.ts';
import type { Answered } from './operations.ts';
import type { Visit } from './web.ts';

/** How many of the newest API keys of a tenant an activity page knows by name. */
const namedKeysMax = 200;

/** What was answered, or undefined where there is no such thing. */
export const ifThere = async <T>(answer: Promise<Answered<T>>): Promise<T | undefined> => {
  try {
    return (await answer).body;
  } catch (error) {
    if (error instanceof RequestRefused && statusOfCode(error.code) === 404) return undefined;
    throw error;
  }
};

/** What these service accounts are called, as far as they are still there. */
export const accountNames = async (
  { call }: Visit,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, string>> => {
  const found = await Promise.all(
    [...new Set(ids)].map((id) =>
      ifThere(call<ServiceAccountRecord>('getServiceAccount', { params: { id } })),
    ),
  );
  return new Map(found.flatMap((account) => (account === undefined ? [] : [[account.id, account.name]])));
};

const idsOf = (acts: readonly ActRecord[], kind: 'service_account' | 'api_key'): readonly string[] =>
  acts.flatMap(({ actor, data }) => {
    const id = data[`${kind}_id`];
    const named = typeof id === 'string' ? [id] : [];
    return actor.startsWith(`${kind}:`) ? [...named, actor.slice(kind.length + 1)] : named;
  });

const keyNames = async ({ call }: Visit, tenant: string): Promise<ReadonlyMap<string, string>> => {
  const query = { limit: String(namedKeysMax), order: 'desc' };
  const keys = await ifThere(
    call<readonly ApiKeyRecord[]>('listTenantApiKeys', { params: { id: tenant }, query }),
  );
  return new Map((keys ?? []).map(({ id, name }) => [id, name]));
};

/** What the service accounts and API keys are called that acts name by their ids. */
export const namesFor = async (
  visit: Visit,
  tenant: string,
  acts: readonly ActRecord[],
): Promise<ReadonlyMap<string, string>> => {
  const [accounts, keys] = await Promise.all([
    accountNames(visit, idsOf(acts, 'service_account')),
    idsOf(acts, 'api_key').length === 0 ? new Map<string, string>() : keyNames(visit, tenant),
  ]);
  return new Map([...accounts, ...keys]);
};
