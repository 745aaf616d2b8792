import { pino, type DestinationStream, type Logger } from 'pino';
import type { RequestReport } from './http/border.ts';

/** Lines are written out when this many bytes wait, or after `flushEveryMs`. */
const bufferBytes = 4_096;

const flushEveryMs = 200;

/** A reader that has stopped reading costs at most this much memory; further lines are dropped. */
const backlogBytesMax = 4_194_304;

/** The log: JSON lines, and what must be written out before the process ends. */
export type Log = { readonly logger: Logger; readonly flush: () => void };

/** A log on standard output. Nothing of a request but what `requestLine` names is ever given to it. */
export const createLog = (level: string): Log => {
  const destination = pino.destination({
    fd: 1,
    sync: false,
    minLength: bufferBytes,
    maxLength: backlogBytesMax,
    periodicFlush: flushEveryMs,
  });
  // Standard output that nobody reads any more is no reason to stop serving.
  destination.on('error', () => {});
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, destination as DestinationStream);
  return {
    logger,
    flush: () => {
      try {
        destination.flushSync();
      } catch {
        // It was not open yet, or is closed already: there is nothing left to do for a line.
      }
    },
  };
};

/** What succeeds without changing anything: at many thousand a second, a line for each is for debugging. */
const isQuiet = ({ method, route, status }: RequestReport): boolean =>
  status < 400 && (method === 'GET' || method === 'HEAD' || route.endsWith('/authenticate'));

/** One line a request, with the template of its route, never the path; and the cause of what went wrong inside. */
export const logRequest =
  (logger: Logger) =>
  (report: RequestReport): void => {
    const quiet = isQuiet(report);
    if (quiet && !logger.isLevelEnabled('debug')) return;
    const { method, route, status, ms, requestId, actor, code, error } = report;
    const line = {
      request_id: requestId,
      method,
      route,
      status,
      ms: Math.round(ms * 100) / 100,
      actor,
      code,
    };
    if (error !== undefined) logger.error({ ...line, err: error }, 'request failed');
    else if (quiet) logger.debug(line, 'request');
    else logger.info(line, 'request');
  };
