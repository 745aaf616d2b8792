import { z } from 'zod';

/** What is measured, in the order of the table. */
export const operations = ['mint', 'authenticate', 'get', 'list', 'revoke'] as const;

/** One kind of request, the same on every side that knows it. */
export type Operation = (typeof operations)[number];

/** The row's heading in the table. */
export const operationTitles: Record<Operation, string> = {
  mint: 'mint a credential',
  authenticate: 'authenticate a credential',
  get: 'get one tenant',
  list: 'list 100 users',
  revoke: 'revoke a credential',
};

/** One client, a small pool, a busy one. */
export const connectionCounts = [1, 16, 64] as const;

/** An answer for each operation; `body` is `null` where the status has none. */
export const answersSchema = z.record(
  z.enum(operations),
  z.object({ status: z.number(), body: z.unknown() }),
);

/** What a constant server sends, and what the service was seen to send. */
export type Answers = Readonly<z.infer<typeof answersSchema>>;

/** One HTTP answer. */
export type Answer = Answers[Operation];
