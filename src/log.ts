import { pino, type Logger } from 'pino';
import type { RequestReport } from './http/border.ts';
import { createOutput } from './output.ts';

/** The log: JSON lines, and what must be written out before the process ends. */
export type Log = { readonly logger: Logger; readonly flush: () => void };

/** A log on standard output. Nothing of a request but what `requestLine` names is ever given to it. */
export const createLog = (level: string): Log => {
  const output = createOutput(1);
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const logger = pino(options, output);
  return { logger, flush: output.flushSync };
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
