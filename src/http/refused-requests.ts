import { noteRefusedRequests } from '../commands/refused-requests.ts';
import type { Clock } from '../core/ports.ts';
import type { Run } from '../core/run.ts';
import type { RefusalCode } from '../refusals.ts';

/** Callers that are told apart at a time; those beyond are merged. */
export const refusedCallersMax = 1_000;

/** Routes and addresses that are named of one caller's minute. */
const namedMax = 5;

/** Statements that are made at once. */
const statementsAtOnce = 50;

/** How often what was refused is stated, in milliseconds. */
export const stateRefusedEveryMs = 60_000;

const minuteMs = 60_000;

/** One request that was refused; `caller` is an actor or `anonymous`. */
export type RefusedRequest = {
  readonly caller: string;
  readonly code: RefusalCode;
  /** The template of the route, never the path. */
  readonly route: string;
  readonly address: string | null;
};

/** Keeps count of refused requests and states them, merged by caller and minute so that no flood fills the log. */
export type RefusedRequests = {
  /** Counts a request; nothing is waited for. */
  note(refused: RefusedRequest): void;
  /** States the minutes that are over; never rejects. */
  state(): Promise<void>;
  /** States all that is left; never rejects. */
  drain(): Promise<void>;
};

/** What one caller was refused in one minute. */
type Merged = {
  readonly caller: string;
  readonly atMs: number;
  total: number;
  readonly codes: Map<RefusalCode, number>;
  readonly routes: Set<string>;
  readonly addresses: Set<string>;
};

type Needs = {
  readonly run: Run;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Told of what could not be stated; it is tried again with the next minute's. */
  readonly failed: (error: unknown) => void;
};

const addUpTo = (named: Set<string>, name: string): void => {
  if (named.size < namedMax) named.add(name);
};

/** Nothing was refused yet. */
export const createRefusedRequests = ({ run, clock, newId, failed }: Needs): RefusedRequests => {
  const waiting = new Map<string, Merged>();

  const placeOf = (caller: string, atMs: number): Merged => {
    const key = `${atMs} ${caller}`;
    const found = waiting.get(key);
    if (found !== undefined) return found;
    // One more than the bound, in which all that are beyond it are together.
    if (waiting.size >= refusedCallersMax && caller !== 'others') return placeOf('others', atMs);
    const none = { total: 0, codes: new Map(), routes: new Set<string>(), addresses: new Set<string>() };
    const fresh: Merged = { caller, atMs, ...none };
    waiting.set(key, fresh);
    return fresh;
  };

  const stateOne = async (key: string, { caller, atMs, ...merged }: Merged): Promise<void> => {
    const id = newId();
    const wish = {
      id,
      refused: caller,
      minute: new Date(atMs).toISOString(),
      total: merged.total,
      codes: Object.fromEntries(merged.codes),
      routes: [...merged.routes],
      addresses: [...merged.addresses],
    };
    const origin = { address: null, user_agent: null, reason: null, causation_id: null };
    try {
      await run(noteRefusedRequests, wish, { actor: 'system', correlation_id: id, ...origin });
    } catch (error) {
      // Its minute is over, so that nothing has come in its place but where the service is stopping.
      if (waiting.size < refusedCallersMax) waiting.set(key, { caller, atMs, ...merged });
      failed(error);
    }
  };

  const stateBefore = async (endMs: number): Promise<void> => {
    const over = [...waiting].filter(([, { atMs }]) => atMs < endMs);
    for (const [key] of over) waiting.delete(key);
    for (let at = 0; at < over.length; at += statementsAtOnce)
      await Promise.all(over.slice(at, at + statementsAtOnce).map((one) => stateOne(...one)));
  };

  const thisMinute = (): number => Math.floor(clock() / minuteMs) * minuteMs;

  return {
    note: ({ caller, code, route, address }) => {
      const merged = placeOf(caller, thisMinute());
      merged.total += 1;
      merged.codes.set(code, (merged.codes.get(code) ?? 0) + 1);
      addUpTo(merged.routes, route);
      if (address !== null) addUpTo(merged.addresses, address);
    },
    state: () => stateBefore(thisMinute()),
    drain: () => stateBefore(Infinity),
  };
};
