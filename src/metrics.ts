import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ReadModelStatus } from './core/ports.ts';
import type { RunObserver } from './core/run.ts';
import type { RequestReport } from './http/border.ts';
import type { Counted } from './http/services.ts';

/** OpenTelemetry's advice for HTTP durations, in seconds. */
const httpBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const commitBuckets = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** One commit of the embedded engine. */
export type CommitReport = {
  readonly appends: number;
  readonly events: number;
  readonly ms: number;
  readonly walBytes?: number | undefined;
};

/** What is asked at each scrape. */
export type Probes = {
  readonly readModels: () => Promise<readonly ReadModelStatus[]>;
  readonly head: () => Promise<string>;
};

/** The service's metrics: every name here, no label with a client's or a tenant's own text. */
export type Metrics = {
  readonly request: (report: RequestReport) => void;
  readonly requestBegun: () => void;
  readonly count: (counted: Counted) => void;
  readonly run: RunObserver;
  readonly committed: (report: CommitReport) => void;
  readonly appendConflict: () => void;
  /** Names what is asked at each scrape, once the stores are open. */
  readonly watch: (probes: Probes) => void;
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
  const revoking = new Set([
    'DeleteTenant',
    'DeleteUser',
    'DeleteServiceAccount',
    'RotateBearer',
    'RevokeCredential',
  ]);
  return {
    count: (counted: Counted): void => {
      switch (counted.what) {
        case 'authentication':
          return authentications.inc({ result: counted.result });
        case 'look-up':
          return lookUps.inc({ kind: counted.kind, active: String(counted.active) });
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

const createStoreMetrics = (registers: Registry[]) => {
  let probes: Probes | undefined;
  const duration = new Histogram({
    name: 'eventstore_commit_duration_seconds',
    help: 'Time of one durable commit of the embedded engine.',
    buckets: commitBuckets,
    registers,
  });
  const appends = new Counter({ name: 'eventstore_appends_total', help: 'Appends committed.', registers });
  const events = new Counter({ name: 'eventstore_events_total', help: 'Events committed.', registers });
  const conflicts = new Counter({
    name: 'eventstore_append_conflicts_total',
    help: 'Appends that found another revision than expected.',
    registers,
  });
  const wal = new Gauge({ name: 'eventstore_wal_bytes', help: 'Size of the write-ahead log.', registers });
  const lag = new Gauge({
    name: 'projection_lag_events',
    help: 'Positions between the end of the log and a read model’s checkpoint.',
    labelNames: ['projection'],
    registers: [],
    async collect() {
      if (probes === undefined) return;
      const [head, models] = await Promise.all([probes.head(), probes.readModels()]);
      for (const { name, checkpoint } of models)
        this.set({ projection: name }, Number(BigInt(head) - BigInt(checkpoint)));
    },
  });
  for (const registry of registers) registry.registerMetric(lag);
  return {
    watch: (stores: Probes): void => {
      probes = stores;
    },
    committed: (report: CommitReport): void => {
      duration.observe(report.ms / 1000);
      appends.inc(report.appends);
      events.inc(report.events);
      if (report.walBytes !== undefined) wal.set(report.walBytes);
    },
    appendConflict: (): void => conflicts.inc(),
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
