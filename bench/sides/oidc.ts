import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Requests } from '../job.ts';
import type { Operation } from '../operations.ts';
import { startServer } from '../server-process.ts';
import { mintAll } from './requests.ts';
import type { Side, SideStart } from './side.ts';

/** How many tokens introspection takes in turn, as authenticate does at the service. */
const poolAmount = 1_000;

/** The peer's heading. */
export const oidcTitle = '(c) oidc-provider';

/** Starts the peer. Mint is a client_credentials grant, authenticate an introspection (RFC 7662), revoke RFC 7009. */
export const startOidc = async ({ folder, client }: SideStart): Promise<Side> => {
  const secret = randomBytes(32).toString('hex');
  const program = fileURLToPath(new URL('../servers/oidc.js', import.meta.url));
  const env = { BENCH_CLIENT_ID: 'bench', BENCH_CLIENT_SECRET: secret };
  const server = await startServer({ program, env, log: join(folder, 'oidc.log') });
  const form = (path: string, bodies: readonly string[]): Requests => ({
    method: 'POST',
    paths: [path],
    headers: {
      Authorization: `Basic ${Buffer.from(`bench:${secret}`).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    bodies,
  });
  const grant = form('/token', ['grant_type=client_credentials']);
  const mintTokens = async (amount: number): Promise<string[]> =>
    (await mintAll(client, server.port, grant, amount)).map((body) => `token=${readToken(body)}`);
  const pool = await mintTokens(poolAmount);
  await expectActive(server.port, form('/token/introspection', pool));
  const standing: Partial<Record<Operation, Requests>> = {
    mint: grant,
    authenticate: form('/token/introspection', pool),
  };
  return {
    title: oidcTitle,
    server,
    requestsFor: async (operation, amount) =>
      operation === 'revoke'
        ? { ...form('/token/revocation', await mintTokens(amount)), once: true }
        : standing[operation],
  };
};

const granted = z.object({ access_token: z.string() });
const introspected = z.object({ active: z.boolean() });

const readToken = (body: string): string => granted.parse(JSON.parse(body)).access_token;

/** Introspection answers 200 to an unknown token too, and faster: make sure that the tokens are known. */
const expectActive = async (port: number, { headers, bodies, paths }: Requests): Promise<void> => {
  const body = bodies[0] ?? '';
  const response = await fetch(`http://127.0.0.1:${port}${paths[0]}`, { method: 'POST', headers, body });
  const { active } = introspected.parse(await response.json());
  if (!active) throw new Error('oidc-provider does not know the token it has just minted');
};
