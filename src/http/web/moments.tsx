import { stateOf } from '../answer.ts';
import type { Moment } from '../pages/console/moment.tsx';
import { NoPastPage, type NoPast } from '../pages/console/no-past.tsx';
import { sendPage } from '../pages/page.ts';
import { statusOfCode, toRefused, type RequestRefused } from '../problem.ts';
import { timeOf } from './visits.ts';
import type { Visit } from './web.ts';

/** A visit to a page as of a moment: what it calls answers as of that, and its clock shows it. */
export type MomentVisit = Visit & {
  readonly moment: Moment;
  /** The same visit as it is now, for what is never asked as of another moment. */
  readonly now: Visit;
};

/** Makes the handler of a page that can be asked for as of a moment (`as_of` in its address). */
export type AtMoment = (handle: (visit: MomentVisit) => Promise<void>) => (visit: Visit) => Promise<void>;

const whyNot = ({ code, errors = [] }: RequestRefused): NoPast | undefined => {
  if (errors.some(({ pointer }) => pointer === '/as_of')) return 'wrong';
  return statusOfCode(code) === 404 ? 'absent' : undefined;
};

const inThePast = (visit: Visit, moment: Moment, asOf: string): MomentVisit => {
  const thenMs = Date.parse(asOf);
  return {
    ...visit,
    now: visit,
    moment: { ...moment, asOf },
    call: (id, sent = {}) => visit.call(id, { ...sent, query: { ...sent.query, as_of: asOf } }),
    nowMs: Number.isNaN(thenMs) ? visit.nowMs : thenMs,
  };
};

/** When the log begins, which is asked for until there is a log and then remembered: it never changes. */
const createBeginning = (): ((visit: Visit) => Promise<number | undefined>) => {
  let firstMs: number | undefined;
  return async ({ call }) => {
    if (firstMs !== undefined) return firstMs;
    const { body } = await call<readonly { readonly time: string }[]>('listEvents', {
      query: { limit: '1' },
    });
    const [first] = body;
    if (first !== undefined) firstMs = Date.parse(first.time);
    return firstMs;
  };
};

/**
 * Pages as of a moment. What can't be shown as of it is a page too, from which another moment can be chosen; the code
 * and its status are the API's.
 */
export const createAtMoment = (): AtMoment => {
  const beginning = createBeginning();
  return (handle) => async (visit) => {
    const { ctx, nowMs } = visit;
    const moment: Moment = { path: ctx.path, nowMs, firstMs: await beginning(visit) };
    const asOf = timeOf(ctx.query['as_of']);
    if (asOf === undefined) return handle({ ...visit, now: visit, moment });
    try {
      return await handle(inThePast(visit, moment, asOf));
    } catch (error) {
      const refused = toRefused(error);
      const why = whyNot(refused);
      if (why === undefined) throw error;
      const { code, message: detail, errors = [] } = refused;
      stateOf(ctx).code = code;
      const page = { why, detail, moment: { ...moment, asOf }, errors };
      return sendPage(ctx, statusOfCode(code), <NoPastPage {...page} />);
    }
  };
};
