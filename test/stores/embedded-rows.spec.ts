import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { iterate, openDatabase } from '../../src/stores/embedded/sqlite.ts';

/** More than the few rows that are read before the collector runs. */
const rowsAmount = 100;

/** The collector, which a program can only call where it is asked for. */
const collect = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

describe('rows of SQLite that are read one at a time', () => {
  it('go on to their end when the collector runs, though nobody else has their statement', async () => {
    const db = openDatabase(':memory:');
    try {
      const rows = iterate(
        db.prepare<{ n: number }>(
          `WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ${rowsAmount}) SELECT n FROM up`,
        ),
      );
      const read = [rows.next().value?.n];
      // Statements of native code are given back in a turn of their own.
      for (let turn = 0; turn < 3; turn += 1) {
        collect();
        await new Promise((resolve) => setImmediate(resolve));
      }
      for (const { n } of rows) read.push(n);
      expect(read).to.deep.equal(Array.from({ length: rowsAmount }, (_, n) => n + 1));
    } finally {
      db.close();
    }
  });
});
