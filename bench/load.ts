import { openConnection, type Connection } from './connection.ts';
import type { Job, JobResult, Requests } from './job.ts';
import { percentile } from './statistics.ts';
import type { Response } from './response.ts';

/** How long a job may take beyond its own time before it is given up. */
const overtimeMsMax = 15_000;

/** What a job has counted so far; mutable, as this is the innermost loop. */
type Tally = {
  sent: number;
  firstMs: number;
  lastMs: number;
  latenciesMs: number[];
  failures: Record<string, number>;
  faults: string[];
  bodies: string[];
};

/** Runs one job to its end. Never rejects: what went wrong is in the result. */
export const runJob = async (job: Job): Promise<JobResult> => {
  const tally: Tally = {
    sent: 0,
    firstMs: 0,
    lastMs: 0,
    latenciesMs: [],
    failures: {},
    faults: [],
    bodies: [],
  };
  const requests = encodeRequests(job.requests);
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const lanes = Array.from({ length: job.connections }, () => runLane(job, requests, tally, startMs));
  await Promise.all(lanes);
  const cpu = process.cpuUsage(cpuBefore);
  const elapsedMs = performance.now() - startMs;
  const sorted = Float64Array.from(tally.latenciesMs).toSorted();
  return {
    requests: sorted.length,
    requestsPerSecond: sorted.length / Math.max((tally.lastMs - tally.firstMs) / 1000, 0.001),
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    failures: tally.failures,
    faults: tally.faults,
    bodies: tally.bodies,
    clientCpu: (cpu.user + cpu.system) / 1000 / elapsedMs,
  };
};

/** One connection's share of a job: resolves when it has had its last response, or broke. */
const runLane = (job: Job, requests: readonly Buffer[], tally: Tally, startMs: number): Promise<void> =>
  new Promise((resolve) => {
    const measureFromMs = startMs + job.warmupSeconds * 1000;
    const endMs = measureFromMs + job.seconds * 1000;
    const requestsMax = job.requests.once === true ? requests.length : (job.requestsMax ?? Infinity);
    let sentMs = 0;
    const finish = (fault?: string): void => {
      if (fault !== undefined) tally.faults.push(fault);
      clearTimeout(patience);
      connection.close();
      resolve();
    };
    const sendNext = (nowMs: number): void => {
      if (nowMs >= endMs || tally.sent >= requestsMax) return finish();
      const request = requests[tally.sent++ % requests.length];
      if (request === undefined) return finish('the job has no requests');
      sentMs = nowMs;
      return connection.send(request);
    };
    const onResponse = (response: Response): void => {
      const nowMs = performance.now();
      count(tally, job, response);
      if (sentMs >= measureFromMs) {
        if (tally.latenciesMs.push(nowMs - sentMs) === 1) tally.firstMs = sentMs;
        tally.lastMs = nowMs;
      }
      sendNext(nowMs);
    };
    const connection: Connection = openConnection(job.port, {
      onOpen: () => sendNext(performance.now()),
      onResponse,
      onFault: finish,
    });
    const patience = setTimeout(() => finish('no answer in time'), endMs - startMs + overtimeMsMax);
  });

const count = (tally: Tally, job: Job, { status, body }: Response): void => {
  if (status < 200 || status > 299) tally.failures[status] = (tally.failures[status] ?? 0) + 1;
  if (job.collect === true) tally.bodies.push(Buffer.concat(body).toString('utf8'));
};

/** Every request as the bytes to send, so that the client does next to nothing per request. */
const encodeRequests = ({ method, paths, headers, bodies }: Requests): Buffer[] => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Array.from({ length: Math.max(paths.length, bodies.length) }, (_, i) => {
    const path = paths[i % paths.length] ?? '/';
    const body = bodies[i % bodies.length];
    const length = body === undefined ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    return Buffer.from(
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}${length}\r\n${body ?? ''}`,
    );
  });
};
