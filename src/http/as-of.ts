import { z } from 'zod';
import { positionForm, type Position } from '../core/event.ts';
import { inputErrors, RequestRefused, type InputError } from './problem.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';

/** What the query of every read may name besides its own members: the moment as of which it is answered. */
export const asOfQuery = z
  .object({
    as_of: z.iso.datetime({ offset: true }).optional().meta({
      description:
        'Answers as it would have been answered then: deleted things included, expiry judged by that time.',
    }),
    at_position: z
      .string()
      .regex(positionForm, 'Must be what an X-Position was.')
      .optional()
      .meta({ description: 'The same, as of the event at this position of the log.' }),
  })
  .refine(({ as_of, at_position }) => as_of === undefined || at_position === undefined, {
    path: ['at_position'],
    message: 'Must not come with `as_of`.',
  });

type AsOf = z.output<typeof asOfQuery>;

/** Whether an operation can be answered as of another moment than now. */
export const isTemporal = ({ method, nowOnly }: Pick<Route, 'method' | 'nowOnly'>): boolean =>
  method === 'GET' && nowOnly !== true;

/** A query without the moment, the moment, and what is wrong with it. */
export const takeAsOf = (
  route: Route,
  query: Readonly<Record<string, unknown>>,
): { readonly asOf: AsOf; readonly query: unknown; readonly faults: readonly InputError[] } => {
  if (!isTemporal(route) || !('as_of' in query || 'at_position' in query))
    return { asOf: {}, query, faults: [] };
  const { as_of, at_position, ...rest } = query;
  const parsed = asOfQuery.safeParse({ as_of, at_position });
  return parsed.success
    ? { asOf: parsed.data, query: rest, faults: [] }
    : { asOf: {}, query: rest, faults: inputErrors(parsed.error, 'query') };
};

const refused = (name: keyof AsOf, detail: string): RequestRefused =>
  new RequestRefused('request.invalid', 'The request is not valid.', {
    errors: [{ pointer: `/${name}`, detail, in: 'query' }],
  });

const momentOf = async (
  { as_of, at_position }: AsOf,
  { history, clock }: Services,
): Promise<{ readonly position: Position; readonly timeMs: number }> => {
  if (as_of !== undefined) {
    const timeMs = Date.parse(as_of);
    if (timeMs > clock()) throw refused('as_of', 'Must not lie in the future.');
    return { position: await history.positionAt(timeMs), timeMs };
  }
  const position = at_position ?? '';
  const timeMs = await history.timeOf(position);
  if (timeMs === undefined) throw refused('at_position', 'Must be the position of an event.');
  return { position, timeMs };
};

/** The services as they were at the moment that is asked for: the documents of then, and the clock of then. */
export const servicesAsOf = async (asOf: AsOf, services: Services): Promise<Services> => {
  if (asOf.as_of === undefined && asOf.at_position === undefined) return services;
  const { position, timeMs } = await momentOf(asOf, services);
  const { reads } = services;
  // The log can be ahead of what is read here.
  await reads.reach(position);
  return {
    ...services,
    clock: () => timeMs,
    reads: {
      ...reads,
      documents: (name) => reads.documentsAsOf(name, position),
      position: () => position,
    },
  };
};
