import type { Client } from '../client-process.ts';
import type { Requests } from '../job.ts';
import type { Operation } from '../operations.ts';
import type { Server } from '../server-process.ts';

/** The sides of the comparison, in the order in which a round visits them. */
export const sideNames = ['service', 'koa', 'node', 'oidc'] as const;

/** One side of the comparison. `large` is the service on a large store, in a table of its own. */
export type SideName = (typeof sideNames)[number];

/** What a side needs from the benchmark to come up. */
export type SideStart = {
  /** The run's own empty folder, on the disk that is measured. */
  readonly folder: string;
  readonly client: Client;
};

/** A server under test, and how to ask it for each operation. */
export type Side = {
  /** The column's heading. */
  readonly title: string;
  readonly server: Server;
  /**
   * The requests for an operation, or nothing where the side does not know it. Where each request works only once
   * (revoke), `amount` of them are prepared, freshly minted.
   */
  readonly requestsFor: (operation: Operation, amount: number) => Promise<Requests | undefined>;
};
