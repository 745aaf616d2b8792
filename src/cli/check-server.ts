import { startOfLog, toPosition, type Position } from '../core/event.ts';
import type { Projection } from '../core/projection.ts';
import { decode, projections } from '../projections/index.ts';
import { openShadow, registeredIn, rowsOf, type DocumentRow } from '../stores/embedded/index.ts';
import {
  keepsPast,
  openMongoDbReader,
  type MongoDbReader,
  type ServerPast,
  type ServerRow,
} from '../stores/mongodb/index.ts';
import { compareParts, isEqual, type Checked } from './checked.ts';
import type { CommandInput } from './command.ts';
import { openSource, pagesOf } from './engines.ts';
import { withProgress } from './progress.ts';
import { replayInto } from './replaying.ts';

/** What of a row both engines keep: the number of a tombstone's revision is each engine's own. */
const comparable = (
  { kind }: Projection,
  row: {
    readonly until?: Position | undefined;
    readonly revision: number;
    readonly created: Position;
    readonly position?: Position | undefined;
    readonly group: string | null;
    readonly subgroup: string | null;
    readonly body: string | undefined;
  },
): string => {
  const { body, revision, ...places } = row;
  if (body === undefined) return JSON.stringify({ revision, gone: true });
  const told = kind === 'tombstones' ? places : { revision, ...places };
  return `${JSON.stringify(told).slice(0, -1)},"document":${body}}`;
};

const comparableOfFolder =
  (projection: Projection) =>
  ({ until, revision, created, position, grp, sub, body, gone }: DocumentRow): string =>
    comparable(projection, {
      ...(until === undefined ? {} : { until: toPosition(until) }),
      revision,
      created: toPosition(created),
      ...(position === undefined ? {} : { position: toPosition(position) }),
      group: grp,
      subgroup: sub,
      body: gone === 1 ? undefined : body,
    });

async function* serverRows(projection: Projection, rows: AsyncIterable<ServerRow>) {
  for await (const { id, r, c = startOfLog, p = startOfLog, g = null, u = null, b } of rows)
    yield {
      id,
      text: comparable(projection, {
        revision: r,
        created: c,
        position: p,
        group: g,
        subgroup: u,
        body: b,
      }),
    };
}

async function* serverPast(projection: Projection, rows: AsyncIterable<ServerPast>) {
  for await (const { id, until, r, c = startOfLog, p = startOfLog, g = null, u = null, b } of rows)
    yield {
      id,
      since: p,
      text: comparable(projection, { until, revision: r, created: c, group: g, subgroup: u, body: b }),
    };
}

/** Which read models have not come to a position, and where they stand. */
const behind = async (server: MongoDbReader, head: Position): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const projection of projections) {
    const found = await server.registered(projection);
    if (found?.live === undefined) faults.push(`${projection.name} is not there yet`);
    else if (!keepsPast(found.live)) faults.push(`the past of ${projection.name} is not there yet`);
    else if (found.checkpoint < head) faults.push(`${projection.name} stands at ${found.checkpoint}`);
  }
  return faults;
};

/** Checks read models on a server, which keeps the events of a list as documents. */
export const checkServer = async (input: CommandInput): Promise<readonly Checked[]> => {
  const { config, signal, screen } = input;
  const source = openSource(config);
  const server = openMongoDbReader(config.read_models);
  const shadow = openShadow();
  const asDocuments = projections.map((it): Projection =>
    it.kind === 'log' ? { ...it, kind: 'stream' } : it,
  );
  try {
    const head = await source.head();
    const faults = await behind(server, head);
    if (faults.length > 0)
      throw new Error(`The read models have not come to the log's end (${head}): ${faults.join(', ')}.`);
    await withProgress({ what: 'reading', total: undefined }, screen, async ({ add }) => {
      for await (const page of pagesOf(source, head, signal)) {
        shadow.take(page);
        add(page.length);
      }
    });
    await replayInto(shadow, { projections: asDocuments, decode }, input);
    const replayed = new Map(registeredIn(shadow.db).map((it) => [it.name, it]));
    const checked: Checked[] = [];
    for (const projection of asDocuments) {
      const live = (await server.registered(projection))?.live ?? '';
      const table = replayed.get(projection.name)?.table ?? '';
      const text = comparableOfFolder(projection);
      const rows = serverRows(projection, server.rows(live));
      const past = serverPast(projection, server.past(live, projection));
      checked.push(
        await compareParts(input, projection, [
          ['documents', rows, rowsOf(shadow.db, projection, table, 'documents', text)],
          ['past', past, rowsOf(shadow.db, projection, table, 'past', text)],
        ]),
      );
    }
    if (checked.some((it) => !isEqual(it)) && (await source.head()) !== head)
      throw new Error('The log has gone on meanwhile: check again when nobody writes.');
    return checked;
  } finally {
    shadow.close();
    await server.close();
    await source.close();
  }
};
