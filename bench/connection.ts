import { connect } from 'node:net';
import { parseResponse, type Response } from './response.ts';

/** A keep-alive connection with at most one request in flight. */
export type Connection = { readonly send: (request: Buffer) => void; readonly close: () => void };

/** What a connection reports. After `onFault` it is closed and reports nothing more. */
export type Listener = {
  readonly onOpen: () => void;
  readonly onResponse: (response: Response) => void;
  readonly onFault: (reason: string) => void;
};

/** Opens a connection to 127.0.0.1: the load never leaves the machine. */
export const openConnection = (port: number, listener: Listener): Connection => {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  let pending: Buffer | undefined;
  let closed = false;
  const close = (): void => {
    closed = true;
    socket.destroy();
  };
  const fail = (reason: string): void => {
    if (closed) return;
    close();
    listener.onFault(reason);
  };
  const receive = (data: Buffer): void => {
    pending = pending === undefined ? data : Buffer.concat([pending, data]);
    const response = parseResponse(pending);
    if (response === undefined) return;
    if (response.end !== pending.length) throw new Error('the server sent more than one response');
    pending = undefined;
    listener.onResponse(response);
  };
  socket.on('connect', listener.onOpen);
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the server closed the connection'));
  socket.on('data', (data) => {
    try {
      receive(data);
    } catch (error) {
      fail(String(error));
    }
  });
  return { send: (request) => socket.write(request), close };
};
