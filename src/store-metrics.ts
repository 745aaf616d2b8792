import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Health, ReadModelStatus } from './core/ports.ts';

const commitBuckets = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** How long a scrape waits for the engines, in milliseconds: scrapes are wanted most while one is away. */
const probeMs = 1_000;

/** What is asked at each scrape. */
export type Probes = {
  readonly readModels: () => Promise<readonly ReadModelStatus[]>;
  readonly head: () => Promise<string>;
  readonly health: () => Health;
};

/** What the stores tell; every engine tells what it has. */
export type StoreObserver = {
  readonly committed: (it: { appends: number; events: number; ms: number; walBytes?: number }) => void;
  readonly conflict: () => void;
  readonly retried: (it: { call: string }) => void;
  readonly unavailable: (it: { call: string }) => void;
  readonly resubscribed: () => void;
  readonly projected: (it: { projections: readonly string[]; events: number }) => void;
  readonly stopped: (it: { projection: string }) => void;
  readonly failed: (it: { task: string }) => void;
  readonly lease: (it: { held: boolean }) => void;
};

export type StoreMetrics = {
  readonly stores: StoreObserver;
  /** Names what is asked at each scrape, once the stores are open. */
  readonly watch: (probes: Probes) => void;
};

/** What the promise answers; `undefined` where it fails, or takes longer than a scrape may. */
const soon = async <T>(promise: Promise<T>): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), probeMs);
  });
  try {
    return await Promise.race([promise.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
};

/** How the read models stand, asked at each scrape; an engine that is away leaves these out, and the rest answers. */
const createProbeMetrics = (probes: () => Probes | undefined) => {
  type Found = readonly [head: string, models: readonly ReadModelStatus[]];
  let asking: Promise<Found | undefined> | undefined;
  // One question for all that is told of one scrape.
  const ask = (): Promise<Found | undefined> => {
    const asked = probes();
    if (asked === undefined) return Promise.resolve(undefined);
    asking ??= soon(Promise.all([asked.head(), asked.readModels()])).finally(() => (asking = undefined));
    return asking;
  };
  const ofEach = (name: string, help: string, valueOf: (model: ReadModelStatus, head: string) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['projection'],
      registers: [],
      async collect() {
        const [head, models] = (await ask()) ?? ['', []];
        this.reset();
        for (const model of models) this.set({ projection: model.name }, valueOf(model, head));
      },
    });
  return [
    new Gauge({
      name: 'stores_ready',
      help: '1 where the engines can take traffic, as last seen.',
      registers: [],
      collect() {
        const health = probes()?.health();
        if (health !== undefined) this.set(health.ready ? 1 : 0);
      },
    }),
    ofEach(
      'projection_lag',
      'Positions between the end of the log and a read model’s checkpoint: events, on EventStoreDB bytes.',
      ({ checkpoint }, head) => Math.max(0, Number(BigInt(head) - BigInt(checkpoint))),
    ),
    ofEach(
      'projection_stopped',
      '1 where a read model stands before an event that it can’t take.',
      ({ stopped }) => (stopped === undefined ? 0 : 1),
    ),
  ];
};

const createLogMetrics = (registers: Registry[]) => {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const duration = new Histogram({
    name: 'eventstore_commit_duration_seconds',
    help: 'Time of one durable commit of the embedded engine, or of one append to a server with all its tries.',
    buckets: commitBuckets,
    registers,
  });
  const appends = counter('eventstore_appends_total', 'Appends committed.');
  const events = counter('eventstore_events_total', 'Events committed.');
  const conflicts = counter(
    'eventstore_append_conflicts_total',
    'Appends that found another revision than expected.',
  );
  const retries = counter('eventstore_retries_total', 'Calls to the server that were tried again.', ['call']);
  const given = counter('eventstore_unavailable_total', 'Calls to the server that were given up.', ['call']);
  const resubscribed = counter('eventstore_resubscriptions_total', 'Subscriptions that were made anew.');
  const wal = new Gauge({ name: 'eventstore_wal_bytes', help: 'Size of the write-ahead log.', registers });
  return {
    committed: ({ ms, walBytes, ...report }: Parameters<StoreObserver['committed']>[0]): void => {
      duration.observe(ms / 1000);
      appends.inc(report.appends);
      events.inc(report.events);
      if (walBytes !== undefined) wal.set(walBytes);
    },
    conflict: (): void => conflicts.inc(),
    retried: ({ call }: { call: string }): void => retries.inc({ call }),
    unavailable: ({ call }: { call: string }): void => given.inc({ call }),
    resubscribed: (): void => resubscribed.inc(),
  };
};

/** What the engines do. */
export const createStoreMetrics = (registers: Registry[]): StoreMetrics => {
  let probes: Probes | undefined;
  const gauges = createProbeMetrics(() => probes);
  for (const registry of registers) for (const gauge of gauges) registry.registerMetric(gauge);
  const projected = new Counter({
    name: 'projected_events_total',
    help: 'Events that this node, as the one that projects, applied.',
    registers,
  });
  const failures = new Counter({
    name: 'projection_failures_total',
    help: 'Tries to project an event that failed.',
    labelNames: ['projection'],
    registers,
  });
  const background = new Counter({
    name: 'background_failures_total',
    help: 'Work in the background that failed and is tried again.',
    labelNames: ['task'],
    registers,
  });
  const leader = new Gauge({
    name: 'projector_active',
    help: '1 where this node is the one that projects.',
    registers,
  });
  return {
    stores: {
      ...createLogMetrics(registers),
      projected: ({ events }) => projected.inc(events),
      stopped: ({ projection }) => failures.inc({ projection }),
      failed: ({ task }) => background.inc({ task }),
      lease: ({ held }) => leader.set(held ? 1 : 0),
    },
    watch: (asked) => {
      probes = asked;
    },
  };
};
