import { chainRowsMax, cutChain, type ChainEventRecord, type ChainRecord } from '../pages/console/chain.tsx';
import { EventPage, type EventRecord } from '../pages/console/event.tsx';
import { CheckpointsPage, type CheckpointRecord, type ProofRecord } from '../pages/console/proof.tsx';
import { sendPage } from '../pages/page.ts';
import { RequestRefused } from '../problem.ts';
import { ifThere, namesForLog } from './console-look-ups.ts';
import { nextHref, pageQuery, textOf } from './visits.ts';
import type { Pages, Visit } from './web.ts';

/** The proof of an event; one that no checkpoint covers has none yet. */
const proofOf = async ({ call }: Visit, id: string): Promise<ProofRecord | 'unsealed'> => {
  try {
    return (await call<ProofRecord>('getEventProof', { params: { id } })).body;
  } catch (error) {
    if (error instanceof RequestRefused && error.code === 'event.unsealed') return 'unsealed';
    throw error;
  }
};

const flat = (events: readonly ChainEventRecord[]): readonly ChainEventRecord[] =>
  events.flatMap((event) => [event, ...flat(event.effects)]);

/** The event that the address names; where the position in it has another one, the id is looked for. */
const findEvent = async ({ ctx, call, params }: Visit): Promise<EventRecord> => {
  const id = params['id'] ?? '';
  const at = textOf(ctx.query['at']);
  const there =
    at === undefined ? undefined : await ifThere(call<EventRecord>('getEvent', { params: { id: at } }));
  return there?.id === id ? there : (await call<EventRecord>('getEvent', { params: { id } })).body;
};

const eventPage = async (visit: Visit): Promise<void> => {
  const { ctx, call, nowMs } = visit;
  const event = await findEvent(visit);
  const [{ body: chain }, proof] = await Promise.all([
    call<ChainRecord>('getEventChain', { params: { id: event.position } }),
    proofOf(visit, event.position),
  ]);
  const shown = flat(cutChain(chain.events, chainRowsMax).events);
  const names = await namesForLog(visit, [event, ...shown]);
  sendPage(ctx, 200, <EventPage event={event} chain={chain} proof={proof} names={names} nowMs={nowMs} />);
};

const checkpointsPage = async (visit: Visit): Promise<void> => {
  const { ctx, call, nowMs } = visit;
  const { body, cursor } = await call<readonly CheckpointRecord[]>('listCheckpoints', {
    query: pageQuery(visit),
  });
  const page = { checkpoints: body, nextHref: nextHref(visit, cursor), nowMs };
  sendPage(ctx, 200, <CheckpointsPage {...page} />);
};

/** One event with its causes, effects and proof, and the checkpoints that proofs rest on. */
export const addEventPage = (pages: Pages<Visit>): void => {
  pages.get('/console/events/:id', eventPage);
  pages.get('/console/checkpoints', checkpointsPage);
};
