import { performance } from 'node:perf_hooks';
import type { Middleware } from 'koa';
import type { RefusalCode } from '../refusals.ts';
import { answerProblem, stateOf } from './answer.ts';
import { actorOf } from './authentication.ts';
import type { ClientAddress } from './client-address.ts';
import { refuseAmbiguous, requestIdOf } from './request.ts';

/** One request as it went, for the log and the metrics. `route` is the template, never the path. */
export type RequestReport = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly actor: string | undefined;
  readonly code: RefusalCode | undefined;
  readonly error: unknown;
};

/** What the border tells, and what it asks. */
export type BorderNeeds = {
  readonly begun: () => void;
  /** Called once for each request, when its answer has been sent or its connection has ended. */
  readonly report: (report: RequestReport) => void;
  /** True once the service is stopping: connections are then not kept. */
  readonly isStopping: () => boolean;
  readonly addressOf: ClientAddress;
};

/** Where every request begins and ends: it gets its id, what is thrown below becomes an answer, and it is reported. */
export const border =
  ({ begun, report, isStopping, addressOf }: BorderNeeds): Middleware =>
  async (ctx, next) => {
    const started = performance.now();
    begun();
    const { req, res } = ctx;
    const state = stateOf(ctx);
    state.requestId = requestIdOf(req);
    // Asked once, and now: a connection that ends while the request is under way has no address any more.
    state.address = addressOf(req);
    if (isStopping()) state.closing = true;
    res.once('close', () => {
      report({
        method: req.method ?? '',
        route: state.route ?? String(ctx['_matchedRoute'] ?? 'unmatched'),
        status: res.statusCode,
        ms: performance.now() - started,
        requestId: state.requestId,
        actor: state.caller === undefined ? undefined : actorOf(state.caller),
        code: state.code,
        error: state.error,
      });
    });
    try {
      refuseAmbiguous(req);
      await next();
    } catch (error) {
      answerProblem(ctx, error);
    }
  };
