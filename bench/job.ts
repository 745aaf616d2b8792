/**
 * The requests of one job. Request i takes `paths[i % paths.length]` and `bodies[i % bodies.length]`, so a constant
 * is a list of one.
 */
export type Requests = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Empty where the request has no body. */
  readonly bodies: readonly string[];
  /** Each works only once: the job ends early when all are sent. */
  readonly once?: boolean;
};

/** One stretch of load from the client: N connections, one request in flight on each. */
export type Job = {
  readonly port: number;
  readonly connections: number;
  readonly requests: Requests;
  /** Load that is sent first and not counted. */
  readonly warmupSeconds: number;
  /** The measured time; in-flight requests are then awaited, and counted. */
  readonly seconds: number;
  /** The job ends early after this many requests, warm-up included. */
  readonly requestsMax?: number;
  /** Answers the response bodies too. */
  readonly collect?: boolean;
};

/** What one job saw. */
export type JobResult = {
  /** Measured requests, without the warm-up's. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers outside 200–299 by status, warm-up included. Anything here voids the figures. */
  readonly failures: Readonly<Record<string, number>>;
  /** Connections that broke, timed out or answered what is no HTTP. Anything here voids the figures. */
  readonly faults: readonly string[];
  /** In no particular order; empty unless asked for. */
  readonly bodies: readonly string[];
  /** CPU seconds the client burnt per second: near 1 means that the client, not the server, was the limit. */
  readonly clientCpu: number;
};
