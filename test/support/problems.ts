import { expect } from 'chai';
import { refusals, type RefusalCode } from '../../src/refusals.ts';

/** What an answer must have to be looked at as a problem document, from whatever client. */
type Told = { readonly status: number; readonly body: unknown; header(name: string): string | null };

/** An answer of `createClient`. */
type Fetched = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** An answer of `exchange`. */
type Raw = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const toldBy = (answer: Fetched | Raw): Told => {
  const { status, headers, body } = answer;
  if (headers instanceof Headers) return { status, body, header: (name) => headers.get(name) };
  return {
    status,
    body: typeof body === 'string' ? (JSON.parse(body) as unknown) : body,
    header: (name) => headers[name] ?? null,
  };
};

const members = ['type', 'title', 'status', 'detail', 'instance', 'code'];

/** Holds an answer to being a whole RFC 9457 document of that status and code; answers its `errors`. */
export const expectProblem = (
  answer: Fetched | Raw,
  status: number,
  code: RefusalCode,
): readonly { readonly pointer: string; readonly detail: string; readonly in?: string }[] => {
  const told = toldBy(answer);
  const body = told.body as Record<string, unknown> | undefined;
  expect([told.status, body?.['code']], JSON.stringify(body)).to.deep.equal([status, code]);
  expect(told.header('content-type')).to.equal('application/problem+json');
  expect(body).to.include.all.keys(...members);
  const { errors, ...rest } = body as Record<string, unknown>;
  expect(Object.keys(rest)).to.have.members(members);
  expect(rest).to.include({
    type: `/problems/${code.replaceAll('.', '-')}`,
    title: refusals[code].title,
    status,
    instance: told.header('x-request-id'),
  });
  expect(rest['detail']).to.be.a('string').that.is.not.empty;
  if (status === 401) {
    const challenge = code.startsWith('api-key.') ? /^ApiKey realm="workspace"$/ : /^Bearer realm="admin"/;
    expect(told.header('www-authenticate')).to.match(challenge);
  }
  if (status === 503) expect(told.header('retry-after')).to.match(/^[1-9]\d*$/);
  return (errors ?? []) as { pointer: string; detail: string; in?: string }[];
};

/** The pointers of a `request.invalid` answer, sorted. */
export const expectInvalid = (answer: Fetched | Raw): readonly string[] => {
  const errors = expectProblem(answer, 400, 'request.invalid');
  expect(errors).to.not.be.empty;
  return errors.map(({ pointer }) => pointer).toSorted();
};
