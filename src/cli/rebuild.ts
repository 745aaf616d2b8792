import { setImmediate as nextTurn, setTimeout as passed } from 'node:timers/promises';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { decode, projections } from '../projections/index.ts';
import { openLogReader, rebuildOffline } from '../stores/embedded/index.ts';
import { BadUsage, textOf, type Command, type CommandInput, type Outcome } from './command.ts';
import { fileNameOf, isEmbedded, projectionsModule } from './engines.ts';
import { withProgress } from './progress.ts';

/** How often the service is asked how far it is, in milliseconds. */
const lookEveryMs = 200;

/** How long one answer of the service may take, in milliseconds. */
const answerMsMax = 10_000;

const readModel = z.object({
  name: z.string(),
  checkpoint: z.string(),
  rebuilding: z.object({ checkpoint: z.string() }).nullable(),
});

type ReadModel = z.output<typeof readModel>;

const problem = z.object({ detail: z.string() });

/** Where the service of these settings listens, seen from this machine. */
const urlOf = ({ host, port }: Config): string => {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
};

const createService = ({ config, options, signal }: CommandInput) => {
  const url = (textOf(options, 'url') ?? urlOf(config)).replace(/\/+$/, '');
  if (!/^https?:\/\/[^/]/.test(url)) throw new BadUsage("option '--url' takes the URL of a service");
  const { admin_token } = config;
  if (admin_token === undefined)
    throw new Error('The settings name no admin token, which the service has to be asked with.');
  const call = async (method: 'GET' | 'POST', path: string): Promise<unknown> => {
    let answer: Response;
    try {
      answer = await fetch(`${url}/admin/v1/projections${path}`, {
        method,
        headers: { Authorization: `Bearer ${admin_token}`, Accept: 'application/json' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(`The service at ${url} does not answer.`, { cause: error });
    }
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    const said = problem.safeParse(text.startsWith('{') ? JSON.parse(text) : undefined);
    throw new Error(
      `The service at ${url} answers ${answer.status}${said.success ? `: ${said.data.detail}` : ''}`,
    );
  };
  return {
    list: async (): Promise<readonly ReadModel[]> => z.array(readModel).parse(await call('GET', '')),
    rebuild: async (name: string): Promise<void> => {
      await call('POST', `/${encodeURIComponent(name)}/rebuild`);
    },
  };
};

/**
 * Has a running service rebuild, and resolves when each has been swapped. The embedded engine fills all that are wanted
 * in one pass over the log, so that it is asked for all of them; MongoDB would have to take as many passes at once.
 */
const rebuildOnline = async (input: CommandInput): Promise<readonly string[]> => {
  const { config, names, signal, screen } = input;
  const { list, rebuild: ask } = createService(input);
  const known = await list();
  const wanted = names.length === 0 ? known.map(({ name }) => name) : names;
  const unknown = wanted.find((name) => !known.some((it) => it.name === name));
  if (unknown !== undefined) throw new Error(`The service has no read model ${unknown}.`);
  const total = Math.max(...known.map(({ checkpoint }) => Number(checkpoint)));
  const together = config.read_models === 'embedded' ? [wanted] : wanted.map((name) => [name]);
  for (const asked of together) {
    const what = `rebuilding ${asked.length === 1 ? asked[0] : `${asked.length} read models`}`;
    await withProgress({ what, total, unit: 'positions' }, screen, async ({ set }) => {
      for (const name of asked) await ask(name);
      for (;;) {
        const checkpoints = (await list())
          .filter(({ name, rebuilding }) => asked.includes(name) && rebuilding !== null)
          .map(({ rebuilding }) => Number(rebuilding?.checkpoint));
        if (checkpoints.length === 0) return;
        set(Math.min(...checkpoints));
        await passed(lookEveryMs, undefined, { signal });
      }
    });
  }
  return wanted;
};

/** Rebuilds in the folder, all in one pass over the log and swapped at once. */
const rebuildInFolder = async (input: CommandInput): Promise<readonly string[]> => {
  const { config, names, signal, screen } = input;
  if (config.read_models !== 'embedded')
    throw new Error('The read models are kept by MongoDB: have the service rebuild them.');
  const wanted = projections.filter(({ name }) => names.length === 0 || names.includes(name));
  const unknown = names.find((name) => !wanted.some((it) => it.name === name));
  if (unknown !== undefined) throw new Error(`There is no read model ${unknown}.`);
  let total: number | undefined;
  if (isEmbedded(config)) {
    const log = openLogReader(config.data_dir);
    total = log.count();
    log.close();
  }
  await withProgress({ what: 'rebuilding', total }, screen, async ({ add }) => {
    const refill = { projections: wanted, decode, projectionsModule };
    for await (const events of rebuildOffline(config.data_dir, fileNameOf(config), refill)) {
      signal.throwIfAborted();
      add(events);
      await nextTurn();
    }
  });
  return wanted.map(({ name }) => name);
};

/** Rebuilds the named read models, or all. */
export const rebuild: Command['run'] = async (input): Promise<Outcome> => {
  const isOffline = input.options['offline'] === true;
  if (isOffline && input.options['url'] !== undefined)
    throw new BadUsage("option '--url' does not go with '--offline'");
  const rebuilt = await (isOffline ? rebuildInFolder(input) : rebuildOnline(input));
  return {
    text: `${rebuilt.length} read models rebuilt: ${rebuilt.join(', ')}`,
    result: { read_models: rebuilt },
  };
};
