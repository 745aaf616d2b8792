import { z } from 'zod';
import { positionForm, startOfLog, type Position } from '../core/event.ts';
import { inputErrors, RequestRefused, type InputError } from './problem.ts';
import type { Documents } from '../core/ports.ts';
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

const refused = (name: string, detail: string): RequestRefused =>
  new RequestRefused('request.invalid', 'The request is not valid.', {
    errors: [{ pointer: `/${name}`, detail, in: 'query' }],
  });

/** A moment of the service: how far the log was, and what its clock showed. */
export type Moment = { readonly position: Position; readonly timeMs: number };

/** A moment as it is asked for, by either; `as` is what the parameters are called there, for what is refused. */
export const momentOf = async (
  { as_of, at_position }: AsOf,
  { history, clock }: Pick<Services, 'history' | 'clock'>,
  as = { as_of: 'as_of', at_position: 'at_position' },
): Promise<Moment> => {
  if (as_of !== undefined) {
    const timeMs = Date.parse(as_of);
    if (timeMs > clock()) throw refused(as.as_of, 'Must not lie in the future.');
    return { position: await history.positionAt(timeMs), timeMs };
  }
  const position = at_position ?? '';
  // What a service without a single event answers as its position: there was nothing, and no clock had shown anything.
  if (position === startOfLog) return { position, timeMs: 0 };
  const timeMs = await history.timeOf(position);
  if (timeMs === undefined) throw refused(as.at_position, 'Must be the position of an event.');
  return { position, timeMs };
};

/** The services as they were at a moment: the documents of then, and the clock of then. */
export const servicesAt = async ({ position, timeMs }: Moment, services: Services): Promise<Services> => {
  const { reads } = services;
  // The log can be ahead of what is read here.
  await reads.reach(position);
  // One object for each read model of this answer, which remembers what it has found.
  const then = new Map<string, Documents<unknown>>();
  const documentsOf = (name: string): Documents<unknown> => {
    const known = then.get(name) ?? reads.documentsAsOf<unknown>(name, position);
    then.set(name, known);
    return known;
  };
  return {
    ...services,
    clock: () => timeMs,
    reads: {
      ...reads,
      // The projection of that name alone knows the type.
      documents: <D>(name: string) => documentsOf(name) as Documents<D>,
      position: () => position,
    },
  };
};

/** The services as they were at the moment that is asked for; as they are where none is. */
export const servicesAsOf = async (asOf: AsOf, services: Services): Promise<Services> =>
  asOf.as_of === undefined && asOf.at_position === undefined
    ? services
    : servicesAt(await momentOf(asOf, services), services);
