import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { StoredEvent } from '../../src/core/event.ts';
import { catalogue, codec } from '../../src/events/index.ts';

/** Where the lines lie: beside the sources, for they are not compiled. */
const folder = fileURLToPath(new URL('../../../test/fixtures/history/', import.meta.url));

/**
 * One line of every version of every event type that was ever written to a log, as it was written. Lines are added,
 * and never edited: a changed line would be a log that nobody has.
 */
const lines = readdirSync(folder)
  .filter((file) => file.endsWith('.jsonl'))
  .flatMap((file) =>
    readFileSync(folder + file, 'utf8')
      .trimEnd()
      .split('\n'),
  )
  .map((line) => JSON.parse(line) as StoredEvent);

describe('the history of event versions', () => {
  for (const [type, { version }] of catalogue) {
    for (let written = 1; written <= version; written += 1) {
      it(`has a line of ${type} version ${written}`, () => {
        expect(lines.filter((line) => line.type === type && line.version === written)).to.have.length(1);
      });
    }
  }
  it('has no line of a type or version that was never written', () => {
    for (const { type, version } of lines) {
      expect(catalogue.has(type), type).to.equal(true);
      expect(version, type).to.be.within(1, catalogue.get(type)?.version ?? 0);
    }
  });

  for (const line of lines) {
    const { type, version } = line;
    it(`reads ${type} version ${version} as today’s version, with its envelope as it was`, () => {
      const { data, cause, ...envelope } = codec.decode(line);
      expect(envelope).to.deep.include({
        id: line.id,
        type,
        version: catalogue.get(type)?.version,
        time: line.time,
        stream: line.stream,
        revision: line.revision,
        position: line.position,
      });
      expect(cause).to.deep.equal(JSON.parse(line.cause));
      expect(data).to.be.an('object');
    });
    if (version === catalogue.get(type)?.version) {
      it(`writes ${type} to this day as version ${version} was written, byte for byte`, () => {
        const { id, time, cause, ...fact } = codec.decode(line);
        expect(codec.encode(fact, { id, time, cause })).to.deep.equal({
          id,
          type,
          version,
          time,
          data: line.data,
          cause: line.cause,
        });
      });
    }
  }
});
