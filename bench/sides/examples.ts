import type { Answers } from '../operations.ts';

const createdAt = '2026-11-21T09:00:00.000Z';
const user = (i: number): object => ({
  id: `018f0000-0000-7000-8000-${String(i).padStart(12, '0')}`,
  tenant_id: 'bench',
  username: `user-${i}`,
  role: 'reader',
  created_at: createdAt,
});
const resource = (kind: string, i: number): object => ({
  id: `${kind}_018f00000000700080000000${String(i).padStart(8, '0')}`,
  workspace_id: 'bench-workspace',
  name: 'Nightly report',
  description: 'Gathers the figures of the day.',
  metadata: {},
  created_at: createdAt,
  updated_at: createdAt,
  created_by: `api_key:key_${'0'.repeat(32)}`,
});
const credential = {
  username: `cred_${'x'.repeat(24)}`,
  tenant: 'bench',
  role: 'reader',
  expires_at: createdAt,
  service_account_id: `sa_${'x'.repeat(24)}`,
};

/** What the constant servers answer where the service is not part of the run. */
export const exampleAnswers: Answers = {
  mint: { status: 201, body: { ...credential, password: `tk_${'x'.repeat(49)}` } },
  authenticate: { status: 200, body: credential },
  get: { status: 200, body: { id: 'bench', created_at: createdAt } },
  list: { status: 200, body: Array.from({ length: 100 }, (_, i) => user(i)) },
  revoke: { status: 204, body: null },
  agents: { status: 200, body: Array.from({ length: 20 }, (_, i) => resource('agent', i)) },
  workflow: { status: 201, body: resource('workflow', 0) },
};
