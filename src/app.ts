import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createClock } from './core/clock.ts';
import type { Faults } from './core/faults.ts';
import type { Clock } from './core/ports.ts';
import { createRun } from './core/run.ts';
import { codec } from './events/index.ts';
import { createApidoc } from './http/apidoc.ts';
import { createAuthenticate } from './http/authentication.ts';
import { createHealth, type Readiness } from './http/health.ts';
import { mount } from './http/mount.ts';
import { adminDocument } from './http/openapi.ts';
import { createProblemPages } from './http/pages/problems.ts';
import { adminRoutes } from './http/routes/index.ts';
import { serve, type Listening } from './http/serve.ts';
import type { Services } from './http/services.ts';
import { logRequest } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createPasswords } from './secrets/passwords.ts';
import { createSecrets } from './secrets/tokens.ts';
import { openEmbedded } from './stores/embedded/index.ts';

/** What a test's own program may put in the place of the real thing. */
export type Overrides = {
  readonly clock?: Clock;
  readonly faults?: Faults;
  /** URL of a module that exports `faults`, for the engine's own threads. */
  readonly faultsModule?: string;
};

/** A service that runs. */
export type App = {
  readonly address: string;
  readonly port: number;
  /** Finishes what is in flight (bounded), closes the stores, then resolves. */
  stop(): Promise<void>;
};

/** The version that runs, from the package's own manifest. */
const version = (JSON.parse(readFileSync(findManifest(), 'utf8')) as { version: string }).version;

/** Sources and compiled files lie at different depths below the manifest. */
function findManifest(): URL {
  for (const up of ['../package.json', '../../package.json']) {
    const url = new URL(up, import.meta.url);
    try {
      readFileSync(url);
      return url;
    } catch {
      // Not at this depth.
    }
  }
  throw new Error('package.json is missing.');
}

/**
 * Joins everything, in the order of the flow: stores, then what decides, then what answers. `onFatal` is called once
 * where the engine can't be trusted with another write: the process must then end.
 */
export const createApp = async (
  config: Config,
  logger: Logger,
  onFatal: (error: unknown) => void,
  overrides: Overrides = {},
): Promise<App> => {
  let stage: 'running' | 'stopping' = 'running';
  let metrics: Metrics | undefined;

  const engine = await openEmbedded({
    dir: config.data_dir,
    projectionsModule: new URL('./projections/index.js', import.meta.url).href,
    ...(overrides.faultsModule === undefined ? {} : { faultsModule: overrides.faultsModule }),
    onFatal,
    observe: {
      committed: (report) => metrics?.committed(report),
      conflict: () => metrics?.appendConflict(),
    },
  });
  const { events, readModels } = engine;
  const last = engine.lastEventTime();
  const clock = overrides.clock ?? createClock(last === undefined ? 0 : Date.parse(last));
  const secrets = createSecrets();
  const passwords = await createPasswords();
  metrics = createMetrics(version, { readModels: () => readModels.status(), head: () => events.head() });

  const run = createRun({
    events,
    readModels,
    codec,
    clock,
    newId: () => secrets.newId(),
    observer: metrics.run,
    faults: overrides.faults,
  });

  const services: Services = {
    run,
    reads: readModels,
    secrets,
    passwords,
    clock,
    rebuild: (projection) => {
      readModels.rebuild(projection).then(
        () => logger.info({ projection }, 'read model rebuilt'),
        (err: unknown) => logger.error({ projection, err }, 'rebuild failed'),
      );
    },
    count: metrics.count,
  };

  const authenticate = createAuthenticate(
    {
      admin: config.admin_token,
      adminPrevious: config.admin_token_previous,
      verifier: config.verifier_token,
    },
    services,
  );
  const readiness = (): Readiness =>
    stage === 'stopping' ? { ready: false, reason: 'stopping' } : engine.health();

  const report = logRequest(logger);
  const koa = mount({
    services,
    authenticate,
    routes: adminRoutes,
    others: [
      createHealth({ readiness, metrics: metrics.text }),
      createApidoc({ admin: adminDocument(adminRoutes, version) }),
      createProblemPages(),
    ],
    begun: metrics.requestBegun,
    report: (one) => {
      metrics.request(one);
      report(one);
    },
    isStopping: () => stage === 'stopping',
  });

  const handle = koa.callback();
  const listening: Listening = await serve(
    (req, res) => void handle(req, res),
    config.host,
    config.port,
  ).catch(async (error: unknown) => {
    await engine.close();
    throw error;
  });
  return {
    address: listening.address,
    port: listening.port,
    stop: async () => {
      stage = 'stopping';
      await listening.stop();
      await passwords.drain();
      await engine.close();
    },
  };
};
