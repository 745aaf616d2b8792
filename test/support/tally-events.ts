import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../../src/core/event.ts';
import type { Append } from '../../src/core/ports.ts';
import type { TallyFact } from './tally-projections.ts';

const cause = JSON.stringify({
  actor: 'admin',
  address: null,
  user_agent: null,
  reason: null,
  correlation_id: 'test',
  causation_id: null,
});

/** An event of the tally domain, with a new id. */
export const tally = <T extends TallyFact['type']>(
  type: T,
  data: Extract<TallyFact, { type: T }>['data'],
): NewEvent => ({
  id: randomUUID(),
  type,
  version: 1,
  time: '2026-11-21T09:00:00.000Z',
  data: JSON.stringify(data),
  cause,
});

/** A stream's first append. */
export const open = (stream: string, list?: string): Append => ({
  stream,
  expected: 'none',
  events: [tally('Opened', list === undefined ? {} : { list })],
});

/** A stream's next append. */
export const count = (stream: string, expected: number, by = 1): Append => ({
  stream,
  expected,
  events: [tally('Counted', { by })],
});

/** An append that ends its stream's document. */
export const close = (stream: string, expected: number): Append => ({
  stream,
  expected,
  events: [tally('Closed', {})],
});

/** An append that lays a tombstone. */
export const strike = (stream: string, expected: number | 'none', id: string, at: number): Append => ({
  stream,
  expected,
  events: [tally('Struck', { id, at })],
});
