import type { JSX } from 'preact';
import type { RefusalCode } from '../../refusals.ts';
import type { UserSession } from '../../projections/sessions.ts';
import { keep, type Moment } from '../pages/console/moment.tsx';
import { sentTime } from '../pages/console/times.ts';
import type { Notice, SignedInUser } from '../pages/layout.tsx';
import { sendPage } from '../pages/page.ts';
import { RequestRefused, statusOfCode, type InputError } from '../problem.ts';
import type { Visit } from './web.ts';

/** A session as pages show whose it is. */
export const signedInUser = ({ workspace_id, username, role }: UserSession): SignedInUser => ({
  kind: 'user',
  workspace: workspace_id,
  username,
  role,
});

/** Rows on one page of a list. */
export const pageRows = 50;

/** The query of a page of a list, newest first: what somebody looks for is most often what was made last. */
export const pageQuery = ({ ctx }: Visit, limit = pageRows) => {
  const { cursor } = ctx.query;
  return { limit: String(limit), order: 'desc', ...(typeof cursor === 'string' ? { cursor } : {}) };
};

/** Where the next page is, if there is one; as of the same moment. */
export const nextHref = (
  { ctx, moment }: Visit & { readonly moment?: Moment },
  cursor: string | undefined,
): string | undefined => (cursor === undefined ? undefined : keep(`${ctx.path}?cursor=${cursor}`, moment));

/** What the address says under a name: without spaces around it, once, or it says nothing. */
export const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
};

/** A time in the address, as a field for one sends it or as the API takes it, the way the API takes it. */
export const timeOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text === undefined ? undefined : sentTime(text);
};

/** What was done on the page before, by the word in its address: no text from an address is ever shown. */
export const noticeOf = ({ ctx }: Visit, notices: ReadonlyMap<string, string>): Notice | undefined => {
  const text = notices.get(String(ctx.query['done']));
  return text === undefined ? undefined : { kind: 'success', text };
};

/** Refusals that are about one field of a form, though the API names none: the pointer to it, by code. */
export type FieldOfCode = Readonly<Partial<Record<RefusalCode, string>>>;

/** Answers with the form again where its input was refused; throws on what no other input would mend. */
export const orAgain = async (
  { ctx }: Visit,
  act: () => Promise<void>,
  again: (errors: readonly InputError[]) => JSX.Element | Promise<JSX.Element>,
  fields: FieldOfCode = {},
): Promise<void> => {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    const { code, message } = error;
    const status = statusOfCode(code);
    const pointer = fields[code];
    if (pointer === undefined && status !== 400 && status !== 403 && status !== 409) throw error;
    sendPage(ctx, status, await again(error.errors ?? [{ pointer: pointer ?? '', detail: message }]));
  }
};
