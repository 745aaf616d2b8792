import { z } from 'zod';

/** What is measured of the Admin API. */
const adminOperations = ['mint', 'authenticate', 'get', 'list', 'revoke'] as const;

/** What is measured of the workspace API. */
const workspaceOperations = ['agents', 'workflow'] as const;

/** What is measured, in the order of the table. */
export const operations = [...adminOperations, ...workspaceOperations] as const;

/** Asked with an operator's token or a service account's bearer. */
export type AdminOperation = (typeof adminOperations)[number];

/** Asked with an API key. */
export type WorkspaceOperation = (typeof workspaceOperations)[number];

/** One kind of request, the same on every side that knows it. */
export type Operation = (typeof operations)[number];

/** The row's heading in the table. */
export const operationTitles: Record<Operation, string> = {
  mint: 'mint a credential',
  authenticate: 'authenticate a credential',
  get: 'get one tenant',
  list: 'list 100 users',
  revoke: 'revoke a credential',
  agents: 'list 20 agents',
  workflow: 'create a workflow',
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
