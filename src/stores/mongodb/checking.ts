import type { Collection, Filter, WithId } from 'mongodb';
import type { Position } from '../../core/event.ts';
import { createServer, readOptions, type RowState } from './client.ts';
import { pastIn } from './past.ts';
import { keyOf, registerName, type Registered } from './registry.ts';
import type { Projection } from '../../core/projection.ts';

/** Rows that are read at a time. */
const pageRows = 500;

/** A row as the server holds it. */
export type ServerRow = { readonly id: string } & RowState;

/** A version that another one has taken the place of, and from which position on. */
export type ServerPast = ServerRow & { readonly until: Position };

/** The read models on a server, for reading alone and beside the nodes that keep them. */
export type MongoDbReader = {
  /** How a read model stands; absent where nobody has registered it. */
  readonly registered: (projection: Projection) => Promise<Registered | undefined>;
  /** Every row of a collection in the order of their ids, those that are gone included, a page at a time. */
  readonly rows: (collection: string) => AsyncGenerator<ServerRow, void>;
  /** What these were before, in the order of their ids and then of time; nothing of a collection that keeps no past. */
  readonly past: (collection: string, projection: Projection) => AsyncGenerator<ServerPast, void>;
  readonly close: () => Promise<void>;
};

/** What the documents of a collection were, where each says so itself. */
async function* pastInRows(rows: AsyncIterable<ServerRow>): AsyncGenerator<ServerPast, void> {
  for await (const { h = [], p = '', ...row } of rows)
    for (const [n, laid] of h.entries()) yield { ...row, ...laid, until: h[n + 1]?.p ?? p };
}

/** Connects at the first call. Throws on a connection string that is none. */
export const openMongoDbReader = (connectionString: string): MongoDbReader => {
  const server = createServer(connectionString);
  async function* all<R extends { readonly _id: string }>(
    collection: Collection<R>,
  ): AsyncGenerator<WithId<R>, void> {
    for (let after: string | undefined; ;) {
      const filter = (after === undefined ? {} : { _id: { $gt: after } }) as Filter<R>;
      const page = await server.call('Reading a page', () =>
        collection
          .find(filter, { ...readOptions, batchSize: pageRows })
          .sort({ _id: 1 })
          .limit(pageRows)
          .toArray(),
      );
      for (const row of page) {
        yield row;
        ({ _id: after } = row);
      }
      if (page.length < pageRows) return;
    }
  }
  async function* rows(collection: string): AsyncGenerator<ServerRow, void> {
    for await (const { _id, s } of all(server.rows(collection))) yield { id: _id, ...s };
  }
  async function* pastRows(collection: string): AsyncGenerator<ServerPast, void> {
    for await (const { i, x, r, c, p, g, u, b } of all(pastIn(server, collection)))
      yield { id: i, until: x, r, c, p, b, ...(g !== undefined && { g }), ...(u !== undefined && { u }) };
  }
  return {
    registered: async (projection) =>
      (await server.call('Reading where the read models stand', () =>
        server.db
          .collection<Registered>(server.name(registerName))
          .findOne({ _id: keyOf(projection) }, readOptions),
      )) ?? undefined,
    rows,
    past: (collection, { kind }) =>
      kind === 'tombstones' ? pastInRows(rows(collection)) : pastRows(collection),
    close: server.close,
  };
};
