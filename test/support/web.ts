import { request, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Client } from './client.ts';
import { adminToken } from './program.ts';
import type { MadeKey } from './workspace.ts';

/** How long an answer may take before it counts as hanging, in milliseconds. */
const answerTimeoutMs = 15_000;

/** The name of the cookie that holds a user's session, over plain HTTP. */
export const sessionName = 'keyledger-workspace';

/** A page as it was answered; where it leads is in `location`. */
export type Page = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly location: string | undefined;
  /** The `Set-Cookie` lines, as they stood. */
  readonly set: readonly string[];
};

/** Fields of a form, or the body itself. */
export type Sent = string | Readonly<Record<string, string>>;

/** How a request differs from a plain one. */
export type Visiting = {
  readonly form?: Sent;
  readonly headers?: OutgoingHttpHeaders;
  /** The address of the loopback that it comes from. */
  readonly from?: string;
};

const encoded = (form: Sent): string =>
  typeof form === 'string' ? form : new URLSearchParams(form).toString();

/** Collects an answer whose head has come. */
export const pageOf = async (answer: IncomingMessage): Promise<Page> => {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: Buffer.concat(chunks).toString(),
    location: answer.headers.location,
    set: answer.headers['set-cookie'] ?? [],
  };
};

/** Asks as a browser would, but for the headers in which browsers say where a request comes from. */
export const visit = (url: string, method: string, path: string, how: Visiting = {}): Promise<Page> => {
  const { form, headers = {}, from } = how;
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}${path}`,
      {
        method,
        agent: false,
        headers: {
          Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
          ...(form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        ...(from === undefined ? {} : { localAddress: from }),
      },
      (answer) => void pageOf(answer).then(resolve, reject),
    );
    asked.setTimeout(answerTimeoutMs, () => asked.destroy(new Error(`No answer: ${method} ${path}.`)));
    asked.once('error', reject);
    asked.end(form === undefined ? undefined : encoded(form));
  });
};

/** A browser of a person, as far as cookies go. */
export type Visitor = {
  get(path: string, how?: Visiting): Promise<Page>;
  post(path: string, form?: Sent, how?: Visiting): Promise<Page>;
  /** The value of a cookie that it has. */
  cookie(name: string): string | undefined;
};

type Cookie = { readonly name: string; readonly value: string; readonly path: string };

/** A cookie of a `Set-Cookie` line (RFC 6265 §5.2), as far as this service sets any. */
const cookieOf = (line: string): Cookie => {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  const [, path = '/'] = /; *path=([^;]+)/i.exec(line) ?? [];
  return { name, value, path };
};

const isFor = ({ path }: Cookie, asked: string): boolean => {
  const [plain = ''] = asked.split('?', 1);
  return path === '/' || plain === path || plain.startsWith(`${path}/`);
};

/** A visitor of a service, with no cookies yet. */
export const createVisitor = (url: () => string): Visitor => {
  const cookies = new Map<string, Cookie>();
  const ask = async (method: string, path: string, how: Visiting): Promise<Page> => {
    const sent = [...cookies.values()].filter((cookie) => isFor(cookie, path));
    const Cookie = sent.map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = { ...(Cookie === '' ? {} : { Cookie }), ...how.headers };
    const page = await visit(url(), method, path, { ...how, headers });
    for (const cookie of page.set.map(cookieOf)) {
      const key = `${cookie.name} ${cookie.path}`;
      if (cookie.value === '') cookies.delete(key);
      else cookies.set(key, cookie);
    }
    return page;
  };
  return {
    get: (path, how = {}) => ask('GET', path, how),
    post: (path, form = {}, how = {}) => ask('POST', path, { ...how, form }),
    cookie: (name) => [...cookies.values()].find((cookie) => cookie.name === name)?.value,
  };
};

/** Somebody with a password. */
export type Person = {
  readonly workspace: string;
  readonly username: string;
  readonly password: string;
  readonly role: 'reader' | 'writer' | 'admin';
};

/** An admin of a workspace, unless told otherwise. */
export const person = (workspace: string, more: Partial<Person> = {}): Person => ({
  workspace,
  username: 'alice',
  password: 'correct horse battery staple',
  role: 'admin',
  ...more,
});

/** Makes the person, and their workspace where it is not there yet. */
export const arrangePerson = async (
  client: Client,
  { workspace, username, password, role }: Person,
): Promise<void> => {
  const tenant = await client('POST', '/admin/v1/tenants', { body: { id: workspace } });
  if (tenant.status !== 201 && tenant.status !== 409) throw new Error(`No tenant: ${tenant.text}`);
  const users = `/admin/v1/tenants/${workspace}/users`;
  const { status, text } = await client('POST', users, { body: { username, password, role } });
  if (status !== 201) throw new Error(`No user: ${text}`);
};

/** Sends the form of the sign-in page. */
export const signIn = (
  visitor: Visitor,
  { workspace, username, password }: Person,
  how: Visiting & { readonly next?: string } = {},
): Promise<Page> => {
  const { next, ...visiting } = how;
  const form = { workspace, username, password, ...(next === undefined ? {} : { next }) };
  return visitor.post('/sign-in', form, visiting);
};

/** A visitor who has signed in. */
export const signedIn = async (url: () => string, who: Person): Promise<Visitor> => {
  const visitor = createVisitor(url);
  const { status, text } = await signIn(visitor, who);
  if (status !== 303) throw new Error(`Not signed in: ${status} ${text}`);
  return visitor;
};

/** A visitor who has signed in to the console. */
export const operatorAt = async (url: () => string): Promise<Visitor> => {
  const visitor = createVisitor(url);
  const { status, text } = await visitor.post('/console/sign-in', { token: adminToken });
  if (status !== 303) throw new Error(`Not signed in: ${status} ${text}`);
  return visitor;
};

/** Makes a key with the form, and looks at the page that shows it; answers its id and the key itself. */
export const makeKeyByForm = async (
  visitor: Visitor,
  workspace: string,
  form: Readonly<Record<string, string>> = {},
): Promise<MadeKey> => {
  const path = `/w/${workspace}/api-keys`;
  const sent = await visitor.post(path, { name: 'made', role: 'reader', expires: 'never', ...form });
  const { location = '' } = sent;
  if (sent.status !== 303) throw new Error(`No key: ${sent.status} ${sent.text}`);
  const [key = ''] = /svc_\w{49}/.exec((await visitor.get(location)).text) ?? [];
  return { id: location.slice(path.length + 1), key };
};
