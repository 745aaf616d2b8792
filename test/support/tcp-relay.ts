import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A relay before a server on this machine, whose connections can die without a word. */
export type TcpRelay = {
  readonly port: number;
  /** From now on nothing passes on the connections there are, in either direction, and none is closed; new ones work. */
  readonly silence: () => void;
  readonly close: () => Promise<void>;
};

/** Listens on a free port and passes on what comes. */
export const startTcpRelay = async (toPort: number): Promise<TcpRelay> => {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((inner) => {
    const outer = connect(toPort, '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        for (const each of pair) each.destroy();
        pairs.delete(pair);
      });
    }
    inner.pipe(outer);
    outer.pipe(inner);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => {
      for (const [inner, outer] of pairs) {
        inner.unpipe(outer).pause();
        outer.unpipe(inner).pause();
      }
    },
    close: async () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
