import { accept, command, type Fold } from '../core/command.ts';
import type { RequestFact } from '../events/request.ts';

/** Says that requests of one caller were refused within a minute; the id is fresh. */
export type NoteRefusedRequests = RequestFact['data'] & { readonly id: string };

/** Whether it was stated already. */
const noted: Fold<boolean, RequestFact> = { initial: false, on: { RequestsRefused: () => true } };

/** States them once, on a stream of their own: nothing is decided by them, and nobody races for it. */
export const noteRefusedRequests = command({
  name: 'NoteRefusedRequests',
  stream: ({ id }: NoteRefusedRequests) => `refused_requests-${id}`,
  startsStream: true,
  fold: noted,
  decide: ({ id: _id, ...data }: NoteRefusedRequests, isNoted) =>
    isNoted ? accept() : accept({ type: 'RequestsRefused', data }),
});
