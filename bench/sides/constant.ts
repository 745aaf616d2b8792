import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answers } from '../operations.ts';
import { startServer } from '../server-process.ts';
import { adminRequests, workspaceRequests } from './requests.ts';
import type { Side, SideStart } from './side.ts';

/** How many names the requests take in turn, as those to the service do. */
const namesAmount = 1_000;

/** Which constant server, and what it answers. */
export type ConstantStart = SideStart & {
  readonly name: 'koa' | 'node';
  readonly title: string;
  readonly answers: Answers;
};

/** Starts a server that answers constants to the very requests that the service gets. */
export const startConstant = async ({ name, title, answers, folder }: ConstantStart): Promise<Side> => {
  const file = join(folder, `${name}-answers.json`);
  await writeFile(file, JSON.stringify(answers));
  const program = fileURLToPath(new URL(`../servers/${name}.js`, import.meta.url));
  const server = await startServer({
    program,
    env: { BENCH_ANSWERS: file },
    log: join(folder, `${name}.log`),
  });
  const tokens = { admin: 'x'.repeat(64), bearer: `sab_${'x'.repeat(49)}` };
  const credentials = Array.from({ length: namesAmount }, (_, i) => ({
    username: `cred_${String(i).padStart(24, '0')}`,
    password: `tk_${'x'.repeat(49)}`,
  }));
  const requests = {
    ...adminRequests(tokens, credentials),
    ...workspaceRequests(`svc_${'x'.repeat(49)}`),
  };
  return { title, server, requestsFor: async (operation) => requests[operation] };
};
