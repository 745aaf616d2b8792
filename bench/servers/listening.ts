import type { Server } from 'node:net';

/** Prints the line that tells the benchmark where a server listens. */
export const announce = (server: Server): void => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  console.log(JSON.stringify({ msg: 'listening', ...address }));
};
