import { createServer, readOptions, type RowState } from './client.ts';
import { keyOf, type Registered } from './registry.ts';
import type { Projection } from '../../core/projection.ts';

/** Rows that are read at a time. */
const pageRows = 500;

/** A row as the server holds it. */
export type ServerRow = { readonly id: string } & RowState;

/** The read models on a server, for reading alone and beside the nodes that keep them. */
export type MongoDbReader = {
  /** How a read model stands; absent where nobody has registered it. */
  readonly registered: (projection: Projection) => Promise<Registered | undefined>;
  /** Every row of a collection in the order of their ids, those that are gone included, a page at a time. */
  readonly rows: (collection: string) => AsyncGenerator<ServerRow, void>;
  readonly close: () => Promise<void>;
};

/** Connects at the first call. Throws on a connection string that is none. */
export const openMongoDbReader = (connectionString: string): MongoDbReader => {
  const server = createServer(connectionString);
  async function* rows(collection: string): AsyncGenerator<ServerRow, void> {
    for (let after: string | undefined; ;) {
      const behind = after;
      const page = await server.call('Reading a page', () =>
        server
          .rows(collection)
          .find(behind === undefined ? {} : { _id: { $gt: behind } }, { ...readOptions, batchSize: pageRows })
          .sort({ _id: 1 })
          .limit(pageRows)
          .toArray(),
      );
      for (const { _id, s } of page) {
        yield { id: _id, ...s };
        after = _id;
      }
      if (page.length < pageRows) return;
    }
  }
  return {
    registered: async (projection) =>
      (await server.call('Reading where the read models stand', () =>
        server.db
          .collection<Registered>(server.name('models'))
          .findOne({ _id: keyOf(projection) }, readOptions),
      )) ?? undefined,
    rows,
    close: server.close,
  };
};
