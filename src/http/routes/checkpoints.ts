import { z } from 'zod';
import { refuse } from '../../core/command.ts';
import { toPosition } from '../../core/event.ts';
import type { PageItem, PageRequest } from '../../core/ports.ts';
import type { Prover } from '../../proofs/prover.ts';
import type { Sealed } from '../../proofs/sealed-log.ts';
import { listOf } from '../lists.ts';
import { RequestRefused } from '../problem.ts';
import { route } from '../route.ts';
import { instant, listQuery, noParams, noQuery } from '../schemas.ts';

const hash = (description: string) =>
  z.string().meta({ description: `${description} SHA-256, base64.`, example: `${'A'.repeat(43)}=` });

/** A checkpoint as clients see it. */
export const checkpoint = z
  .object({
    number: z.int().meta({ description: 'Counts the checkpoints of the log, from 1.' }),
    origin: z.string().meta({ description: 'Which log it is.' }),
    tree_size: z.int().meta({ description: 'How many events it covers, from the first one.' }),
    root_hash: hash('The root of the Merkle tree over them (RFC 6962).'),
    time: instant,
    previous: hash('Of the note of the checkpoint before it; null in the first.').nullable(),
    note: z.string().meta({
      description: 'The signed note, to be kept: all of this as text, with its signature.',
    }),
    event_id: z.string().meta({ description: 'The event that states it.' }),
    position: z.string().meta({ description: 'Where that stands in the log.' }),
  })
  .meta({ id: 'Checkpoint', description: 'The log up to an event, sealed.' });

/** What is shown of a checkpoint: what it says of single events is in the event that states it. */
export const checkpointView = ({
  fingerprints: _fingerprints,
  ...shown
}: Sealed): z.input<typeof checkpoint> => shown;

/** The checkpoints as a list is read: their numbers are what it is cut by. */
const pagesOf = ({ latest, list }: Prover) => ({
  page: async ({ after, order, limit }: PageRequest): Promise<readonly PageItem<Sealed>[]> => {
    const first = order === 'desc' ? ((await latest())?.number ?? 0) : 1;
    const from = after === undefined ? first : Number(after) + (order === 'desc' ? -1 : 1);
    const page = await list(from, order ?? 'asc', limit);
    return page.map((document) => ({ created: toPosition(document.number), document }));
  },
});

const none = 'There is no checkpoint of the log yet.';

const off = 'The service has no key to sign with.';

const listCheckpoints = route({
  method: 'GET',
  path: '/admin/v1/checkpoints',
  id: 'listCheckpoints',
  nowOnly: true,
  tag: 'Proofs',
  summary: 'List the checkpoints of the log',
  description:
    'Each covers the log from its first event. Whoever keeps one elsewhere can tell later whether what it covers was changed or cut off.',
  callers: ['admin'],
  params: noParams,
  query: listQuery,
  responses: {
    200: { description: 'The checkpoints, oldest first.', body: z.array(checkpoint), headers: ['Link'] },
  },
  refusals: [],
})(async ({ query, url }, { proofs }) => ({
  status: 200,
  ...(await listOf(pagesOf(proofs.prover), {}, url, query, async (page) => page.map(checkpointView))),
}));

const sealNow = route({
  method: 'POST',
  path: '/admin/v1/checkpoints',
  id: 'createCheckpoint',
  tag: 'Proofs',
  summary: 'Seal the log now',
  description:
    'Covers all that stands in the log, as the service does by itself every so often. Where nothing has come since the last checkpoint, that is answered.',
  callers: ['admin'],
  params: noParams,
  query: noQuery,
  responses: { 200: { description: 'The last checkpoint.', body: checkpoint } },
  refusals: ['checkpoint.unknown', 'checkpoint.no-key', 'log.changed'],
})(async (_, { proofs }) => {
  if (proofs.seal === undefined) return refuse('checkpoint.no-key', off);
  const sealed = await proofs.seal();
  return sealed === undefined
    ? refuse('checkpoint.unknown', none)
    : { status: 200, body: checkpointView(sealed) };
});

const verifierKey = z
  .object({
    key: z.string().meta({
      description: 'As `<name>+<id>+<key>` (C2SP signed-note): what `verify` is given.',
      example: 'keyledger+1c9e5f23+AX5…',
    }),
    algorithm: z.literal('Ed25519'),
  })
  .meta({ id: 'VerifierKey', description: 'The public key that verifies checkpoints.' });

const getKey = route({
  method: 'GET',
  path: '/admin/v1/checkpoints/key',
  id: 'getVerifierKey',
  nowOnly: true,
  tag: 'Proofs',
  summary: 'Get the public key',
  description:
    'Keep it elsewhere: who could change the log could also answer another one here. It is the key that this node signs with now.',
  callers: ['admin'],
  params: noParams,
  query: noQuery,
  responses: { 200: { description: 'The key.', body: verifierKey } },
  refusals: ['checkpoint.no-key'],
})(async (_, { proofs }) =>
  proofs.key === undefined
    ? refuse('checkpoint.no-key', off)
    : { status: 200, body: { key: proofs.key.text, algorithm: 'Ed25519' as const } },
);

/** A tree's size in a query. */
export const treeSize = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'Must be a whole number above zero.')
  .transform(Number)
  .meta({ override: { type: 'integer', minimum: 1, pattern: undefined } });

/** The checkpoint of this size. Throws `RequestRefused` where there is none. */
export const checkpointOfSize = async ({ ofSize }: Prover, size: number): Promise<Sealed> => {
  const found = await ofSize(size);
  if (found === undefined)
    throw new RequestRefused('checkpoint.unknown', `No checkpoint covers ${size} events.`);
  return found;
};

const consistency = z
  .object({ first: checkpoint, second: checkpoint, hashes: z.array(hash('')) })
  .meta({ id: 'ConsistencyProof', description: 'Shows that a log only grew (RFC 6962 §2.1.2).' });

const getConsistency = route({
  method: 'GET',
  path: '/admin/v1/checkpoints/consistency',
  id: 'getConsistencyProof',
  nowOnly: true,
  tag: 'Proofs',
  summary: 'Prove that the log only grew',
  description: 'Shows that what a checkpoint covers begins with what an earlier one covered.',
  callers: ['admin'],
  params: noParams,
  query: z.strictObject({
    first: treeSize.meta({ description: 'The size of the tree of the earlier checkpoint.' }),
    second: treeSize.optional().meta({ description: 'That of the later one; the last unless told.' }),
  }),
  responses: { 200: { description: 'The proof.', body: consistency } },
  refusals: ['checkpoint.unknown', 'log.changed'],
})(async ({ query }, { proofs: { prover } }) => {
  const first = await checkpointOfSize(prover, query.first);
  const second =
    query.second === undefined ? await prover.latest() : await checkpointOfSize(prover, query.second);
  if (second === undefined || second.tree_size < first.tree_size)
    throw new RequestRefused('request.invalid', 'The request is not valid.', {
      errors: [{ pointer: '/second', detail: 'Must not be smaller than `first`.', in: 'query' }],
    });
  const hashes = await prover.consistency(first, second);
  return {
    status: 200,
    body: { first: checkpointView(first), second: checkpointView(second), hashes: [...hashes] },
  };
});

/** What shows that the log is what it was. */
export const checkpointRoutes = [listCheckpoints, sealNow, getKey, getConsistency];
