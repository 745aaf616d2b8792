import { adminToken } from './program.ts';

/** An answer, with its body parsed where it is JSON. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
  readonly body: any;
  readonly text: string;
};

/** How a request differs from a plain one. */
export type Ask = {
  /** `null` sends none. */
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A client of one running program; without a token of its own it calls as the operator. */
export type Client = {
  (method: string, path: string, ask?: Ask): Promise<Answer>;
};

/** A client over real HTTP. */
export const createClient =
  (url: string): Client =>
  async (method, path, { token = adminToken, body, headers = {} } = {}) => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /^application\/([\w.-]+\+)?json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  };

/** A tenant with a service account that may mint anything for a day. */
export const arrangeAccount = async (
  client: Client,
  tenant: string,
  limits: { max_role?: string; max_ttl_secs?: number } = {},
): Promise<{ readonly id: string; readonly bearer: string }> => {
  const created = await client('POST', '/admin/v1/tenants', { body: { id: tenant } });
  if (created.status !== 201 && created.status !== 409) throw new Error(`No tenant: ${created.text}`);
  const { status, body, text } = await client('POST', '/admin/v1/service-accounts', {
    body: { name: 'tester', tenant_id: tenant, max_role: 'admin', max_ttl_secs: 86_400, ...limits },
  });
  if (status !== 201) throw new Error(`No service account: ${text}`);
  return body as { id: string; bearer: string };
};

/** A minted credential. */
export type Minted = { readonly username: string; readonly password: string; readonly expires_at: string };

/** Mints for one hour as a reader, unless told otherwise. */
export const mint = async (
  client: Client,
  tenant: string,
  bearer: string,
  wish: object = {},
): Promise<Minted> => {
  const { status, body, text } = await client('POST', `/admin/v1/tenants/${tenant}/tokens`, {
    token: bearer,
    body: { subject: 'tester', role: 'reader', ttl_secs: 3_600, ...wish },
  });
  if (status !== 201) throw new Error(`Not minted: ${status} ${text}`);
  return body as Minted;
};

/** Whether the data plane's look-up takes the pair. */
export const isActive = async (
  client: Client,
  tenant: string,
  { username, password }: { username: string; password: string },
): Promise<boolean> => {
  const { status, body, text } = await client('POST', `/admin/v1/tenants/${tenant}/authenticate`, {
    body: { username, password },
  });
  if (status !== 200) throw new Error(`No look-up: ${status} ${text}`);
  return (body as { active: boolean }).active;
};
