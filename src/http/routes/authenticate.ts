import { z } from 'zod';
import { findCredential, statusOf } from '../../projections/credentials.ts';
import { route } from '../route.ts';
import type { Services } from '../services.ts';
import { instant, noQuery, role, writeSchemas } from '../schemas.ts';
import { verifyUser } from '../verify-user.ts';

const result = z
  .union([
    z.object({
      active: z.literal(true),
      kind: z.enum(['user', 'credential']),
      username: z.string(),
      role,
      write_schemas: writeSchemas.optional(),
      expires_at: instant.optional(),
      service_account_id: z.string().optional(),
    }),
    z.object({ active: z.literal(false) }),
  ])
  .meta({ id: 'Authentication', description: 'Whether the pair works now; why it does not is never said.' });

type Result = z.output<typeof result>;

const inactive: Result = { active: false };

/** 32 zero bytes as base64url: what is compared with where there is no credential. */
const noDigest = 'A'.repeat(43);

const asCredential = async (
  tenantId: string,
  username: string,
  password: string,
  { reads, secrets, clock }: Services,
): Promise<Result> => {
  if (!secrets.isWellFormed('tk_', password)) return inactive;
  const found = await findCredential(reads, tenantId, username);
  const matches = secrets.isSame(found?.password_digest ?? noDigest, secrets.digest(password));
  if (found === undefined || !matches) return inactive;
  if ((await statusOf(reads, found, clock())) !== 'active') return inactive;
  return {
    active: true,
    kind: 'credential',
    username,
    role: found.role,
    ...(found.write_schemas === undefined ? {} : { write_schemas: [...found.write_schemas] }),
    expires_at: found.expires_at,
    service_account_id: found.service_account_id,
  };
};

const asUser = async (
  tenantId: string,
  username: string,
  password: string,
  services: Services,
): Promise<Result> => {
  const found = await verifyUser(tenantId, username, password, services);
  if (found === undefined) return inactive;
  return { active: true, kind: 'user', username: found.username, role: found.role };
};

export const authenticateRoutes = [
  route({
    method: 'POST',
    path: '/admin/v1/tenants/{id}/authenticate',
    id: 'authenticate',
    tag: 'Look-up',
    summary: 'Tell whether a username and password work',
    description:
      'For the data plane: users and minted credentials of the tenant alike. The answer is `{"active": false}` for every reason, an unknown tenant included, and takes as long whether a user exists or not.',
    callers: ['admin', 'verifier'],
    // Whatever an end user types is looked up and not found: none of it is a fault of the caller.
    params: z.strictObject({ id: z.string() }),
    query: noQuery,
    body: z.strictObject({ username: z.string(), password: z.string() }),
    responses: { 200: { description: 'What the pair is good for.', body: result } },
    refusals: ['service.busy'],
  })(async ({ params: { id }, body: { username, password } }, services) => {
    const kind = username.startsWith('cred_') ? 'credential' : 'user';
    const look = kind === 'credential' ? asCredential : asUser;
    const body = await look(id, username, password, services);
    services.count({ what: 'look-up', kind, active: body.active });
    return { status: 200, body };
  }),
];
