import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { RequestRefused } from '../problem.ts';

/** The largest form that is read, and the most fields of it. */
const formBytesMax = 8_192;
const fieldsMax = 64;

/** A form as it was sent: text by name. */
export type Form = Readonly<Record<string, string>>;

const readBody = koaBody({
  urlencoded: true,
  json: false,
  text: false,
  multipart: false,
  formLimit: formBytesMax,
  queryString: { allowDots: false, depth: 0, parameterLimit: fieldsMax },
});

const isForm = (type: string | undefined): boolean =>
  /^application\/x-www-form-urlencoded *(;|$)/i.test(type ?? '');

/** The fields of a form that a page sent; each once. Refuses what no page of ours sends. */
export const readForm = async (ctx: Context): Promise<Form> => {
  if (!isForm(ctx.req.headers['content-type'])) {
    throw new RequestRefused('request.unsupported-type', 'The content type must be that of a form.');
  }
  try {
    await readBody(ctx, async () => {});
  } catch (error) {
    // The original error is not kept: it can hold what was sent.
    const isTooLarge = (error as { status?: unknown }).status === 413;
    ctx.req.resume();
    throw isTooLarge
      ? new RequestRefused('request.too-large', `The form has more than ${formBytesMax} bytes.`)
      : new RequestRefused('request.malformed', 'The form did not arrive whole.');
  }
  const fields: unknown = ctx.request.body ?? {};
  const entries = Object.entries(fields as Record<string, unknown>);
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    throw new RequestRefused('request.malformed', 'Every field of the form may come once.');
  return Object.fromEntries(entries);
};
