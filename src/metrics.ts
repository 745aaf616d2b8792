import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RunObserver } from './core/run.ts';
import type { RequestReport } from './http/border.ts';
import type { Counted } from './http/services.ts';
import { createStoreMetrics, type StoreMetrics } from './store-metrics.ts';

/** OpenTelemetry's advice for HTTP durations, in seconds. */
const httpBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The service's metrics: every name here, no label with a client's or a tenant's own text. */
export type Metrics = StoreMetrics & {
  readonly request: (report: RequestReport) => void;
  readonly requestBegun: () => void;
  readonly count: (counted: Counted) => void;
  readonly run: RunObserver;
  readonly text: () => Promise<{ contentType: string; text: string }>;
};

const createHttpMetrics = (registers: Registry[]) => {
  const duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from a request’s arrival to the end of its answer.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: httpBuckets,
    registers,
  });
  const active = new Gauge({ name: 'http_server_active_requests', help: 'Requests in flight.', registers });
  const refusals = new Counter({
    name: 'refusals_total',
    help: 'Refused requests by code.',
    labelNames: ['code'],
    registers,
  });
  return {
    requestBegun: () => active.inc(),
    request: ({ method, route, status, ms, code }: RequestReport) => {
      active.dec();
      if (code !== undefined) refusals.inc({ code });
      duration.observe(
        {
          http_request_method: methods.has(method) ? method : '_OTHER',
          http_route: route,
          http_response_status_code: String(status),
        },
        ms / 1000,
      );
    },
  };
};

const createCounts = (registers: Registry[]) => {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const commands = counter('commands_total', 'Commands by outcome.', ['command', 'outcome']);
  const conflicts = counter('command_conflicts_total', 'Lost races that were decided again.', ['command']);
  const minted = counter('credentials_minted_total', 'Credentials minted.', []);
  const revocations = counter('revocations_total', 'Acts that end a secret, by command.', ['command']);
  const lookUps = counter('credential_lookups_total', 'Look-ups for the data plane.', ['kind', 'active']);
  const authentications = counter('authentications_total', 'Authentications of callers.', ['result']);
  const signIns = counter('sign_ins_total', 'Tries to sign in to the web interface.', ['to', 'result']);
  const revoking = new Set([
    'DeleteTenant',
    'DeleteUser',
    'DeleteServiceAccount',
    'RotateBearer',
    'RevokeCredential',
    'RollApiKey',
    'RevokeApiKey',
    'SignOut',
  ]);
  return {
    count: (counted: Counted): void => {
      switch (counted.what) {
        case 'authentication':
          return authentications.inc({ result: counted.result });
        case 'look-up':
          return lookUps.inc({ kind: counted.kind, active: String(counted.active) });
        case 'sign-in':
          return signIns.inc({ to: counted.to, result: counted.result });
      }
    },
    run: {
      decided: (command: string, outcome: string): void => {
        commands.inc({ command, outcome });
        if (outcome !== 'accepted') return;
        if (command === 'MintCredential') minted.inc();
        if (revoking.has(command)) revocations.inc({ command });
      },
      conflicted: (command: string): void => conflicts.inc({ command }),
    },
  };
};

/** Prometheus metrics, named after OpenTelemetry's conventions where there are any. */
export const createMetrics = (version: string): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // promtool refuses gauges whose names end in `_total`.
  for (const name of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  new Gauge({
    name: 'build_info',
    help: 'The version that runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return {
    ...createHttpMetrics([registry]),
    ...createCounts([registry]),
    ...createStoreMetrics([registry]),
    text: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
};
