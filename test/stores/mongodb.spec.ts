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

/** The read models on a server, with the log of an embedded engine. */
const openOn = async (connectionString: string) => {
  const { events, close } = await openFresh();
  const node = await openNode(connectionString, events);
  await ready(node);
  return { events, readModels: node.readModels, close: () => node.close().then(close) };
};

withFerretDb('MongoDB, as FerretDB has it', (ferretDb) => {
  readModelsContract({ name: 'FerretDB', open: () => openOn(ferretDb().url(freshDatabase())) });
});

describe('MongoDB, as a server of its own', () => {
  const url = givenServer();
  if (url === undefined) it(serverMissing);
  else readModelsContract({ name: 'the server', open: () => openOn(url()) });
});
