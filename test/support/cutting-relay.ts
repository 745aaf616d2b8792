import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A relay before a server on this machine that lets a client do one thing more and then nothing. */
export type CuttingRelay = { readonly port: number; readonly close: () => Promise<void> };

/**
 * Listens on a free port and passes on what comes, until a client sends what `isLast` knows: the server still does that,
 * and when it has, `cut` is called and nothing passes any more in either direction, its answer neither.
 */
export const startCuttingRelay = async (
  toPort: number,
  isLast: (sent: Buffer) => boolean,
  cut: () => void,
): Promise<CuttingRelay> => {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((inner) => {
    const outer = connect(toPort, '127.0.0.1');
    let isLastSent = false;
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        for (const each of [inner, outer]) each.destroy();
      });
    }
    inner.on('data', (sent) => {
      if (isCut) return;
      isLastSent ||= isLast(sent);
      outer.write(sent);
    });
    outer.on('data', (answer) => {
      if (isLastSent && !isCut) {
        isCut = true;
        cut();
      }
      if (!isCut) inner.write(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};
