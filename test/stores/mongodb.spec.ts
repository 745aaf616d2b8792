import { historyContract, type HistoryUnderTest } from '../contracts/history.ts';
import { readModelsContract } from '../contracts/read-models.ts';
import { openFresh } from '../support/embedded.ts';
import {
  freshDatabase,
  givenServer,
  openNode,
  ready,
  serverMissing,
  withFerretDb,
} from '../support/mongodb.ts';

/** FerretDB looks through a whole collection for each answer, and a history is asked at each of its positions. */
const actsOnFerretDb = 32;

/** The read models on a server, with the log of an embedded engine. */
const openOn = async (connectionString: string) => {
  const { events, close } = await openFresh();
  const node = await openNode(connectionString, events);
  await ready(node);
  return { events, readModels: node.readModels, close: () => node.close().then(close) };
};

const contracts = (engine: HistoryUnderTest): void => {
  readModelsContract(engine);
  historyContract(engine);
};

withFerretDb('MongoDB, as FerretDB has it', (ferretDb) => {
  contracts({ name: 'FerretDB', open: () => openOn(ferretDb().url(freshDatabase())), acts: actsOnFerretDb });
});

describe('MongoDB, as a server of its own', () => {
  const url = givenServer();
  if (url === undefined) it(serverMissing);
  else contracts({ name: 'the server', open: () => openOn(url()) });
});
