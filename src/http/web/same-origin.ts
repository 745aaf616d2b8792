import type { IncomingMessage } from 'node:http';
import { RequestRefused } from '../problem.ts';

const hostOf = (origin: string): string | undefined => {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
};

/**
 * Refuses a form that another site sent with the visitor's cookie. A browser says where it comes from, by
 * `Sec-Fetch-Site` (Fetch Metadata) or `Origin`; what says neither is no browser, and has nobody's cookie but its own.
 */
export const refuseCrossSite = ({ headers }: IncomingMessage): void => {
  const { 'sec-fetch-site': site, origin, host } = headers;
  const isOurs =
    site === undefined
      ? origin === undefined || hostOf(origin) === host?.toLowerCase()
      : site === 'same-origin' || site === 'none';
  if (!isOurs) throw new RequestRefused('session.cross-site', 'The form was sent from another site.');
};
