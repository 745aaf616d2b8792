import { setTimeout as passed } from 'node:timers/promises';
import type { Router } from '@koa/router';
import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { createClock } from './core/clock.ts';
import { createHistory } from './core/history.ts';
import type { Faults } from './core/faults.ts';
import type { Clock, Health, ReadModels } from './core/ports.ts';
import { createRun } from './core/run.ts';
import { codec } from './events/index.ts';
import { createApidoc } from './http/apidoc.ts';
import { adminApi, workspaceApi } from './http/api.ts';
import { createKeyAuthentication, createTokenAuthentication } from './http/authentication.ts';
import type { BorderNeeds } from './http/border.ts';
import { createClientAddress } from './http/client-address.ts';
import { createHealth } from './http/health.ts';
import { mount } from './http/mount.ts';
import { createKeyUse } from './http/key-use.ts';
import { apiDocument } from './http/openapi.ts';
import { createAssets } from './http/pages/assets.ts';
import { createRefusedRequests, stateRefusedEveryMs } from './http/refused-requests.ts';
import { serve } from './http/serve.ts';
import type { Services } from './http/services.ts';
import { createSignInThrottle } from './http/sign-in-throttle.ts';
import { createTails } from './http/tails.ts';
import { mountStarting } from './http/starting.ts';
import { createConsolePages } from './http/web/console-pages.tsx';
import { createProblemPages } from './http/web/problem-pages.tsx';
import { createSignInPages } from './http/web/sign-in-pages.tsx';
import { createWeb } from './http/web/web.ts';
import { createWorkspacePages } from './http/web/workspace-pages.tsx';
import { logRequest } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { decode, projections } from './projections/index.ts';
import { link } from './proofs/event-hash.ts';
import type { Sealer } from './proofs/sealer.ts';
import type { Signer } from './proofs/signed-note.ts';
import { signerOf, signerOfFolder } from './proofs/signing-key.ts';
import { createPasswords } from './secrets/passwords.ts';
import { createSecrets } from './secrets/tokens.ts';
import { joinSealing } from './sealing.ts';
import { openStores as openEngines, type Observe, type Stores } from './stores/index.ts';
import { version } from './version.ts';

/** How long the stores are given to come to rest before the process ends in an error, in milliseconds. */
const haltMsMax = 500;

/** What a test's own program may put in the place of the real thing. */
export type Overrides = {
  readonly clock?: Clock;
  /** Puts something between the service and its read models. */
  readonly readModels?: (real: ReadModels) => ReadModels;
  readonly faults?: Faults;
  /** URL of a module that exports `faults`, for the engine's own threads. */
  readonly faultsModule?: string;
};

/** A service that runs. */
export type App = {
  readonly address: string;
  readonly port: number;
  /** As `/readyz` tells it. */
  health(): Health;
  /** Finishes what is in flight (bounded), closes the stores, then resolves. */
  stop(): Promise<void>;
  /** Takes no further write and lets the stores come to rest, for half a second at most; the process then ends. */
  halt(): Promise<void>;
};

/** What the engines tell, for the metrics and, where somebody should know, for the log. */
const observeStores = ({ stores: counted }: Metrics, logger: Logger): Observe => ({
  ...counted,
  resubscribed: ({ reason }) => {
    counted.resubscribed();
    logger.warn({ reason }, 'the subscription to the log was made anew');
  },
  stopped: ({ projection, event, error: err }) => {
    counted.stopped({ projection });
    logger.error({ projection, event, err }, 'a read model can not take an event and stands before it');
  },
  failed: ({ task, error: err }) => {
    counted.failed({ task });
    logger.warn({ task, err }, 'work in the background failed and is tried again');
  },
  lease: ({ held, token }) => {
    counted.lease({ held });
    logger.info({ held, token }, held ? 'this node projects' : 'this node projects no more');
  },
});

const openStores = (
  config: Config,
  observe: Observe,
  onFatal: (error: unknown) => void,
  waiting: (reason: string) => void,
  { faultsModule }: Overrides,
): Promise<Stores> =>
  openEngines({
    eventStore: config.event_store,
    readModels: config.read_models,
    dir: config.data_dir,
    projections,
    decode,
    projectionsModule: new URL('./projections/index.js', import.meta.url).href,
    faultsModule,
    onFatal,
    observe,
    waiting,
  });

/** The key that this node signs checkpoints with: that of the settings, else of the data folder, where it has one of its own. */
const signerFor = ({ signing_key, read_models, data_dir }: Config): Signer | undefined => {
  if (signing_key !== undefined) return signerOf(signing_key);
  return read_models === 'embedded' ? signerOfFolder(data_dir) : undefined;
};

/** What stands in the way of nothing, where there is nothing else to tell. */
const withWarning = (health: Health, warning: string | undefined): Health =>
  health.ready && health.warning === undefined && warning !== undefined ? { ready: true, warning } : health;

/** Takes each reason once, as long as it stays the same. */
const onChange = (told: (reason: string) => void): ((reason: string) => void) => {
  let last: string | undefined;
  return (reason) => {
    if (reason !== last) told(reason);
    last = reason;
  };
};

/** What decides and what is read: the stores, the clock, the secrets, and the one road by which anything changes. */
const joinServices = async (
  config: Config,
  { events, readModels: real, lastEventTime }: Stores,
  metrics: Metrics,
  logger: Logger,
  overrides: Overrides,
): Promise<{ readonly services: Services; readonly sealer: Sealer | undefined }> => {
  const readModels = overrides.readModels?.(real) ?? real;
  const clock = overrides.clock ?? createClock(lastEventTime === undefined ? 0 : Date.parse(lastEventTime));
  const secrets = createSecrets();
  const run = createRun({
    events: {
      ...events,
      append: async (append) => {
        const result = await events.append(append);
        if (result.appended) sealer?.wrote(result.events.length);
        return result;
      },
    },
    readModels,
    link,
    codec,
    clock,
    newId: () => secrets.newId(),
    observer: metrics.run,
    faults: overrides.faults,
  });
  const history = createHistory(events);
  const { proofs, sealer } = joinSealing({
    log: events,
    run,
    history,
    newId: () => secrets.newId(),
    clock,
    signer: signerFor(config),
    everyEvents: config.checkpoint_events,
    everyMs: config.checkpoint_minutes * 60_000,
    failed: (err) => {
      metrics.stores.failed({ task: 'sealing the log' });
      logger.error({ err }, 'the log could not be sealed');
    },
  });
  const services: Services = {
    run,
    reads: readModels,
    history,
    log: { ...events, decode: codec.decode },
    tails: createTails(),
    proofs,
    secrets,
    passwords: await createPasswords(),
    clock,
    rebuild: (projection) => {
      readModels.rebuild(projection).then(
        () => logger.info({ projection }, 'read model rebuilt'),
        (err: unknown) => logger.error({ projection, err }, 'rebuild failed'),
      );
    },
    keyUse: createKeyUse(run, clock, (err) => {
      metrics.stores.failed({ task: 'noting the use of an API key' });
      logger.warn({ err }, 'the use of an API key could not be noted');
    }),
    refusedRequests: createRefusedRequests({
      run,
      clock,
      newId: () => secrets.newId(),
      failed: (err) => {
        metrics.stores.failed({ task: 'noting refused requests' });
        logger.warn({ err }, 'refused requests could not be noted');
      },
    }),
    count: metrics.count,
  };
  return { services, sealer };
};

/** The pages that people see; they call the operations of the APIs. */
const joinWeb = ({ admin_token, admin_token_previous }: Config, services: Services): readonly Router[] => {
  const needs = {
    services,
    throttle: createSignInThrottle(services.clock),
    // Without an admin token the control plane is off, whatever there was before.
    adminTokens:
      admin_token === undefined
        ? []
        : [admin_token, admin_token_previous].filter((token) => token !== undefined),
    routes: [...adminApi.routes, ...workspaceApi.routes],
  };
  const web = createWeb(needs);
  return [createSignInPages(web, needs), createWorkspacePages(web), createConsolePages(web)];
};

/** Every route, page and document. */
const joinHttp = (
  config: Config,
  services: Services,
  metrics: Metrics,
  border: BorderNeeds,
  readiness: () => Health,
): Koa =>
  mount({
    ...border,
    services,
    apis: [
      {
        ...adminApi,
        authenticate: createTokenAuthentication(
          {
            admin: config.admin_token,
            adminPrevious: config.admin_token_previous,
            verifier: config.verifier_token,
          },
          services,
        ),
      },
      { ...workspaceApi, authenticate: createKeyAuthentication(services) },
    ],
    others: [
      createHealth({ readiness, metrics: metrics.text }),
      createApidoc(
        [workspaceApi, adminApi].map((api) => ({
          name: api.name,
          title: api.title.replace('Keyledger ', ''),
          document: apiDocument(api, version),
        })),
      ),
      createProblemPages(),
      createAssets(),
      ...joinWeb(config, services),
    ],
  });

/**
 * Joins everything, in the order of the flow: it listens at once, and answers that it is starting until the stores
 * are open. `onFatal` is called once where the engine can't be trusted with another write: the process must then end.
 */
export const createApp = async (
  config: Config,
  logger: Logger,
  onFatal: (error: unknown) => void,
  overrides: Overrides = {},
): Promise<App> => {
  let isStopping = false;
  const metrics = createMetrics(version);
  const logOne = logRequest(logger);
  const border: BorderNeeds = {
    begun: metrics.requestBegun,
    report: (report) => {
      metrics.request(report);
      logOne(report);
    },
    isStopping: () => isStopping,
    addressOf: createClientAddress(config.trusted_proxies),
  };
  let waitsFor = 'starting';
  let answer = mountStarting({ ...border, reason: () => waitsFor }).callback();
  const listening = await serve((req, res) => void answer(req, res), config.host, config.port);
  const { address, port } = listening;
  logger.info({ address, port }, 'starting');
  try {
    const waiting = onChange((reason) => {
      waitsFor = `starting: ${reason}`;
      logger.warn({ reason }, 'waiting for an engine');
    });
    const stores = await openStores(config, observeStores(metrics, logger), onFatal, waiting, overrides);
    metrics.watch({
      readModels: () => stores.readModels.status(),
      head: () => stores.events.head(),
      health: stores.health,
    });
    const { services, sealer } = await joinServices(config, stores, metrics, logger, overrides);
    const readiness = (): Health =>
      isStopping ? { ready: false, reason: 'stopping' } : withWarning(stores.health(), sealer?.warning());
    answer = joinHttp(config, services, metrics, border, readiness).callback();
    const stating = setInterval(() => void services.refusedRequests.state(), stateRefusedEveryMs);
    stating.unref();
    const stop = async (): Promise<void> => {
      isStopping = true;
      clearInterval(stating);
      services.tails.end();
      await listening.stop();
      await services.passwords.drain();
      await services.keyUse.drain();
      await services.refusedRequests.drain();
      await sealer?.stop();
      await stores.close();
    };
    const halt = async (): Promise<void> => {
      await Promise.race([stores.close(), passed(haltMsMax)]);
    };
    return { address, port, health: readiness, stop, halt };
  } catch (error) {
    await listening.stop();
    throw error;
  }
};
