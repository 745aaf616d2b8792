import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Takes what a client sends, in any pieces, and tells the name of each thing that it asks for. */
export type Reader = (chunk: Buffer) => readonly string[];

/** A relay before a server, which counts what passes on its way there. */
export type CountingRelay = {
  readonly port: number;
  /** How often each name has passed since the start. */
  readonly counts: () => ReadonlyMap<string, number>;
  readonly close: () => void;
};

/** Cuts what comes into frames: `lengthOf` tells a frame's length from its head of `headBytes`. */
const createFrames = (headBytes: number, lengthOf: (head: Buffer) => number) => {
  let rest: Buffer = Buffer.alloc(0);
  return function* (chunk: Buffer): Generator<Buffer, void> {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= headBytes) {
      const length = lengthOf(rest);
      if (rest.length < length) return;
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
  };
};

const opMsg = 2013;
/** An OP_MSG's head of 16 bytes, its flags, the kind of its first section, and a BSON document's length. */
const typeAt = 25;
const bsonString = 2;

/** A command's name and, where it has one, the collection: the document's first member, a text or something else. */
const commandOf = (frame: Buffer): string => {
  const end = frame.indexOf(0, typeAt + 1);
  const command = frame.toString('utf8', typeAt + 1, end);
  if (frame.readUInt8(typeAt) !== bsonString) return command;
  const length = frame.readInt32LE(end + 1);
  const collection = frame.toString('utf8', end + 5, end + 4 + length);
  return `${command} ${collection.replace(/^keyledger_/, '').replace(/_v\d+_\d+_\d+(?:_now)?/, '')}`;
};

/** The commands that a MongoDB client sends (MongoDB wire protocol, OP_MSG): `find tenants`, `ping`. */
export const createCommandReader = (): Reader => {
  const frames = createFrames(16, (head) => head.readInt32LE(0));
  return (chunk) => [...frames(chunk)].filter((frame) => frame.readInt32LE(12) === opMsg).map(commandOf);
};

const prefaceBytes = 24;
const frameNames: Readonly<Record<number, string>> = { 0: 'message', 1: 'call' };

/** The calls that a gRPC client opens, and the pieces of data that it sends in them (RFC 9113 §4.1). */
export const createCallReader = (): Reader => {
  const frames = createFrames(9, (head) => 9 + head.readUIntBE(0, 3));
  let preface = prefaceBytes;
  return (chunk) => {
    const skipped = Math.min(preface, chunk.length);
    preface -= skipped;
    return [...frames(chunk.subarray(skipped))].flatMap((frame) => {
      // The end of a call can come as a frame without data.
      const name = frame.length === 9 ? undefined : frameNames[frame.readUInt8(3)];
      return name === undefined ? [] : [name];
    });
  };
};

/** Listens on a free port of this machine and passes everything on to a server on it. */
export const startCountingRelay = async (
  toPort: number,
  createReader: () => Reader,
): Promise<CountingRelay> => {
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (inner) => {
    const outer = connect({ port: toPort, host: '127.0.0.1', noDelay: true });
    const read = createReader();
    inner.on('data', (chunk: Buffer) => {
      for (const name of read(chunk)) counts.set(name, (counts.get(name) ?? 0) + 1);
    });
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        inner.destroy();
        outer.destroy();
        sockets.delete(socket);
      });
    }
    inner.pipe(outer);
    outer.pipe(inner);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    counts: () => new Map(counts),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
