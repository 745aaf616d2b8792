import { setTimeout as passed } from 'node:timers/promises';
import type { Answer, Client } from './client.ts';
import type { Node } from './nodes.ts';
import { between, type Random } from './random.ts';
import { within } from './waiting.ts';

/** A node that is up and has not said yes or no by then breaks a promise, in milliseconds. */
const sayMsMax = 40_000;

/** How long a node that could not tell is left in peace, in milliseconds. */
const askAgainMs = 100;

/** Of what an account or a tenant ends, so many secrets are looked up at once. */
const sampleMax = 2;

/** What ended last is looked up at a node that comes back from a pause: so many secrets. */
const latestMax = 6;

/** One read in so many asks for the position of the write. */
const minPositionEvery = 3;

/** Whether the thing is there, as one node says; `undefined` where the node can't tell now. */
type Look = (client: Client, headers: Readonly<Record<string, string>>) => Promise<boolean | undefined>;

type Sight = {
  readonly what: string;
  readonly must: 'be there' | 'be gone';
  readonly look: Look;
  /** Somebody has begun to end it meanwhile. */
  readonly isOpen?: () => boolean;
};

type Credential = { readonly username: string; readonly password: string; readonly account: string };

/** An act as the balancer saw it go by. */
export type Passing = {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly body: unknown;
};

/** Looks from outside at every node right after each change that was acknowledged. */
export type Witness = {
  /** To be called before the request is sent; what it answers, with the answer at once. */
  readonly begin: (passing: Passing) => (answer: Answer, from: Node) => Promise<void>;
  /** Has the secrets that ended last looked up at this node; the requests are sent before this returns. */
  readonly lookAgain: (node: Node) => Promise<void>;
  readonly problems: string[];
  /** How many looks had an answer, and how many of them asked for the position of the write. */
  readonly counts: { looks: number; atPosition: number; unavailable: number };
};

const there =
  (path: string): Look =>
  async (client, headers) => {
    const { status } = await client('GET', path, { headers });
    if (status === 503) return undefined;
    if (status !== 200 && status !== 404) throw new Error(`${path} was answered ${status}`);
    return status === 200;
  };

const bearer =
  (token: string): Look =>
  async (client, headers) => {
    const { status } = await client('GET', '/admin/v1/capabilities', { token, headers });
    if (status === 503) return undefined;
    if (status !== 200 && status !== 401) throw new Error(`a bearer was answered ${status}`);
    return status === 200;
  };

const credential =
  (tenant: string, { username, password }: Credential): Look =>
  async (client, headers) => {
    const path = `/admin/v1/tenants/${tenant}/authenticate`;
    const { status, body } = await client('POST', path, { body: { username, password }, headers });
    if (status === 503) return undefined;
    if (status !== 200) throw new Error(`a look-up was answered ${status}`);
    return (body as { active: boolean }).active;
  };

const goneBearers = (id: string, all: readonly string[]): readonly Sight[] =>
  all.slice(-sampleMax).map((token) => ({ what: `a bearer of ${id}`, must: 'be gone', look: bearer(token) }));

/** A witness of these nodes. While `isCalm`, no look may be answered 503. */
export const createWitness = (
  nodes: readonly Node[],
  { random, isCalm }: { readonly random: Random; readonly isCalm: () => boolean },
): Witness => {
  const problems: string[] = [];
  const counts = { looks: 0, atPosition: 0, unavailable: 0 };
  const ending = new Set<string>();
  const tenantOf = new Map<string, string>();
  const accountOf = new Map<string, string>();
  const bearersOf = new Map<string, string[]>();
  const rotations = new Map<string, number>();
  const minted = new Map<string, Credential>();
  const ended: Sight[] = [];

  /** One node, until it says yes or no, or is up no more. */
  const say = async (node: Node, sight: Sight, position: string | undefined): Promise<void> => {
    const headers: Record<string, string> = position === undefined ? {} : { 'X-Min-Position': position };
    const wasCalm = isCalm();
    const deadline = performance.now() + sayMsMax;
    for (;;) {
      const left = node.left().then(() => 'left' as const);
      const look = sight.look(node.client(), headers).catch((error: unknown) => error as Error);
      const seen = await within(sight.what, sayMsMax, Promise.race([look, left])).catch(
        (error: Error) => error,
      );
      if (seen === 'left' || node.state() !== 'up') return;
      if (seen instanceof Error) return void problems.push(`${node.name}: ${sight.what}: ${seen.message}`);
      if (seen === undefined) {
        counts.unavailable += 1;
        if (wasCalm && isCalm()) return void problems.push(`${node.name}: ${sight.what} was answered 503`);
        if (performance.now() > deadline)
          return void problems.push(`${node.name}: ${sight.what} stays unanswered`);
        await passed(askAgainMs);
        continue;
      }
      counts.looks += 1;
      if (position !== undefined) counts.atPosition += 1;
      if (seen !== (sight.must === 'be there') && sight.isOpen?.() !== true)
        problems.push(
          `${node.name}: ${sight.what} must ${sight.must}${position === undefined ? '' : ` at ${position}`}`,
        );
      return;
    }
  };

  const everywhere = async (sights: readonly Sight[], from: Node, answer: Answer): Promise<void> => {
    for (const sight of sights) if (sight.must === 'be gone') ended.push(sight);
    const position = answer.headers.get('x-position') ?? undefined;
    if (position === undefined) problems.push('a change was answered without X-Position');
    const looks = nodes
      .filter((node) => node.state() === 'up')
      .flatMap((node) =>
        sights.map((sight) => {
          const asks = node !== from && between(random, 1, minPositionEvery) === 1;
          return say(node, sight, asks ? position : undefined);
        }),
      );
    await Promise.all(looks);
  };

  const isEnding = (...ids: readonly (string | undefined)[]) => ids.some((id) => ending.has(id ?? ''));
  const goneCredential = (one: Credential): Sight => ({
    what: one.username,
    must: 'be gone',
    look: credential(tenantOf.get(one.account) ?? '', one),
  });
  const goneCredentials = (isOf: (account: string) => boolean): readonly Sight[] =>
    [...minted.values()]
      .filter(({ account }) => isOf(account))
      .slice(-sampleMax)
      .map(goneCredential);

  const remember = (id: string, token: string): void => {
    bearersOf.set(id, [...(bearersOf.get(id) ?? []), token]);
    accountOf.set(token, id);
  };

  const endOf = (
    path: string,
  ): { readonly id: string; readonly sights: () => readonly Sight[] } | undefined => {
    const [, , , kind, id = '', , username] = path.split('/');
    if (username !== undefined) {
      const one = minted.get(username);
      return { id: username, sights: () => (one === undefined ? [] : [goneCredential(one)]) };
    }
    const gone: Sight = { what: path, must: 'be gone', look: there(path) };
    if (kind === 'tenants') {
      const sights = () => {
        const accounts = [...tenantOf].filter(([, tenant]) => tenant === id).map(([account]) => account);
        const bearers = accounts.flatMap((account) => bearersOf.get(account)?.slice(-1) ?? []);
        return [
          gone,
          ...goneBearers(id, bearers),
          ...goneCredentials((account) => accounts.includes(account)),
        ];
      };
      return { id, sights };
    }
    const sights = () => [
      gone,
      ...goneBearers(id, bearersOf.get(id) ?? []),
      ...goneCredentials((account) => account === id),
    ];
    return { id, sights };
  };

  const rotated = (id: string, old: readonly string[], nth: number, fresh: string): readonly Sight[] => {
    const isOpen = () => isEnding(id, tenantOf.get(id)) || rotations.get(id) !== nth;
    return [
      ...goneBearers(id, old),
      { what: `the new bearer of ${id}`, must: 'be there', look: bearer(fresh), isOpen },
    ];
  };

  const made = (path: string, sent: unknown, answer: Answer, token: string | undefined): readonly Sight[] => {
    if (path === '/admin/v1/tenants') {
      const { id } = sent as { id: string };
      const at = `${path}/${id}`;
      return [{ what: at, must: 'be there', look: there(at), isOpen: () => isEnding(id) }];
    }
    if (path === '/admin/v1/service-accounts') {
      const { id, bearer: given } = answer.body as { id: string; bearer: string };
      const { tenant_id: tenant } = sent as { tenant_id: string };
      tenantOf.set(id, tenant);
      remember(id, given);
      const isOpen = () => isEnding(id, tenant) || rotations.has(id);
      return [
        { what: id, must: 'be there', look: there(`${path}/${id}`), isOpen: () => isEnding(id, tenant) },
        { what: `the bearer of ${id}`, must: 'be there', look: bearer(given), isOpen },
      ];
    }
    const tenant = path.split('/')[4] ?? '';
    if (path.endsWith('/users')) {
      const at = `${path}/${(sent as { username: string }).username}`;
      return [{ what: at, must: 'be there', look: there(at), isOpen: () => isEnding(tenant) }];
    }
    const account = accountOf.get(token ?? '') ?? '';
    const one = { ...(answer.body as { username: string; password: string }), account };
    minted.set(one.username, one);
    const isOpen = () => isEnding(one.username, account, tenant);
    return [{ what: one.username, must: 'be there', look: credential(tenant, one), isOpen }];
  };

  const begin: Witness['begin'] = ({ method, path, token, body }) => {
    if (method === 'DELETE') {
      const end = endOf(path);
      if (end !== undefined) ending.add(end.id);
      return async (answer, from) => {
        if (answer.status === 204) await everywhere(end?.sights() ?? [], from, answer);
      };
    }
    if (path.endsWith('/rotate')) {
      const id = path.split('/')[4] ?? '';
      const old = bearersOf.get(id) ?? [];
      const nth = (rotations.get(id) ?? 0) + 1;
      rotations.set(id, nth);
      return async (answer, from) => {
        if (answer.status !== 200) return;
        const { bearer: fresh } = answer.body as { bearer: string };
        remember(id, fresh);
        await everywhere(rotated(id, old, nth, fresh), from, answer);
      };
    }
    return async (answer, from) => {
      if (method === 'POST' && answer.status === 201)
        await everywhere(made(path, body, answer, token), from, answer);
    };
  };

  return {
    begin,
    lookAgain: async (node) => {
      await Promise.all(
        ended.slice(-latestMax).map(async ({ what, look }) => {
          const works = await look(node.client(), {}).catch(() => undefined);
          if (works === true) problems.push(`${node.name}: ${what} works after a pause`);
        }),
      );
    },
    problems,
    counts,
  };
};
