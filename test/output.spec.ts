import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createOutput } from '../src/output.ts';
import { freshFolder, removeFolder } from './support/program.ts';
import { until } from './support/waiting.ts';

/** What is kept for a reader that does not read: about 4 Mi characters, here of up to two bytes each. */
const keptBytesMax = 2 * 4_194_304;

const lineOf = (n: number): string => `${JSON.stringify({ n, text: 'ü'.repeat(50) })}\n`;

const lines = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => lineOf(n));

/** Reads until `isAll` holds of what has come. */
const readUntil = async (reader: number, isAll: (bytes: number) => boolean): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const chunk = Buffer.alloc(65_536);
  await until('the lines have come', () => {
    try {
      for (let read = readSync(reader, chunk); read > 0; read = readSync(reader, chunk)) {
        chunks.push(Buffer.from(chunk.subarray(0, read)));
        bytes += read;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    return isAll(bytes);
  });
  return Buffer.concat(chunks).toString();
};

describe('the output of the log', () => {
  let dir: string;
  let fifo: string;
  const opened: number[] = [];

  const open = (path: string, flags: number | string): number => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  const close = (fd: number): void => closeSync(opened.splice(opened.indexOf(fd), 1)[0] ?? fd);

  beforeEach(() => {
    dir = freshFolder();
    fifo = join(dir, 'fifo');
    execFileSync('mkfifo', [fifo]);
  });
  afterEach(() => {
    for (const fd of opened.splice(0)) closeSync(fd);
    removeFolder(dir);
  });

  /** A pipe whose reader does nothing by itself. */
  const openPipe = (): { reader: number; writer: number } => ({
    reader: open(fifo, constants.O_RDONLY | constants.O_NONBLOCK),
    writer: open(fifo, constants.O_WRONLY | constants.O_NONBLOCK),
  });

  it('has every line once when it is flushed at the end', () => {
    const path = join(dir, 'file');
    const output = createOutput(open(path, 'w'));
    const written = lines(10_000);
    for (const line of written.slice(0, 1_000)) output.write(line);
    output.flushSync();
    for (const line of written.slice(1_000)) output.write(line);
    output.flushSync();
    expect(readFileSync(path, 'utf8').split('\n').toSorted()).to.deep.equal(
      written.join('').split('\n').toSorted(),
    );
  });

  it('comes by itself, in order, as fast as the reader reads', async () => {
    const { reader, writer } = openPipe();
    const output = createOutput(writer);
    const written = lines(5_000);
    for (const line of written) output.write(line);
    const size = Buffer.byteLength(written.join(''));
    expect(await readUntil(reader, (bytes) => bytes >= size)).to.equal(written.join(''));
  });

  it('keeps a bounded number of lines for a reader that does not read, whole ones, and goes on with it', async () => {
    const { reader, writer } = openPipe();
    const output = createOutput(writer);
    for (const line of lines(100_000)) output.write(line);
    const last = `${JSON.stringify({ last: true })}\n`;
    let text = '';
    // What was kept comes first; then there is room again.
    text += await readUntil(reader, (bytes) => bytes > 1_000_000);
    output.write(last);
    await until('the last line has come', async () => {
      text += await readUntil(reader, () => true);
      output.write(last);
      return text.includes(last);
    });
    expect(Buffer.byteLength(text)).to.be.below(keptBytesMax);
    const seen = text
      .trimEnd()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { n?: number });
    const numbers = seen.flatMap(({ n }) => (n === undefined ? [] : [n]));
    expect(numbers).to.deep.equal(numbers.map((_, at) => at));
    expect(numbers.length).to.be.within(10_000, 60_000);
  });

  it('is given up at the end where nobody reads', () => {
    const { writer } = openPipe();
    const output = createOutput(writer);
    for (const line of lines(10_000)) output.write(line);
    output.flushSync();
    output.flushSync();
  });

  it('is given up where the reader has gone', () => {
    const { reader, writer } = openPipe();
    const output = createOutput(writer);
    close(reader);
    for (const line of lines(10_000)) output.write(line);
    output.flushSync();
  });
});
