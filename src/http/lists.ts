import { Readable } from 'node:stream';
import type { Position } from '../core/event.ts';
import { pageItemsMax, type Documents, type PageItem, type PageRequest } from '../core/ports.ts';
import type { JsonText } from './route.ts';
import type { ListQuery } from './schemas.ts';

/** Pages that a filtered list reads for one page of answers, at most; beyond, the page is short but has a next one. */
const pagesPerAnswerMax = 50;

/** A list's answer: JSON text, and the link to the next page where there is one. */
export type ListAnswer = { readonly body: JsonText; readonly headers?: { readonly Link: string } };

/** One page of a list as JSON text without brackets; `next` is absent where the list has ended. */
type Slice = { readonly text: string; readonly count: number; readonly next?: Position };

type ReadSlice = (after: Position | undefined, limit: number) => Promise<Slice>;

const nextLink = (url: string, cursor: Position): string => {
  const [path = '', query] = url.split('?', 2);
  const params = new URLSearchParams(query);
  params.set('cursor', cursor);
  return `<${path}?${params.toString()}>; rel="next"`;
};

/** The whole list, a page at a time, so that memory stays flat however long it is. */
async function* wholeList(read: ReadSlice, first: Slice): AsyncGenerator<string> {
  yield `[${first.text}`;
  let isEmpty = first.count === 0;
  for (let { next } = first; next !== undefined;) {
    const slice = await read(next, pageItemsMax);
    if (slice.count > 0) yield (isEmpty ? '' : ',') + slice.text;
    isEmpty &&= slice.count === 0;
    ({ next } = slice);
  }
  yield ']';
}

const answerList = async (url: string, query: ListQuery, read: ReadSlice): Promise<ListAnswer> => {
  const first = await read(query.cursor, query.limit ?? pageItemsMax);
  const json = `[${first.text}]`;
  if (first.next === undefined) return { body: { json } };
  if (query.limit !== undefined) {
    // A page that is full can be the last one: a link that leads to nothing would be followed.
    const rest = await read(first.next, 1);
    const isLast = rest.count === 0 && rest.next === undefined;
    return { body: { json }, ...(isLast ? {} : { headers: { Link: nextLink(url, first.next) } }) };
  }
  return { body: { json: Readable.from(wholeList(read, first)) } };
};

/** The list that is asked for: one group, one subgroup, or all. */
type List = Pick<PageRequest, 'group' | 'subgroup'>;

const request = (list: List, query: ListQuery, after: Position | undefined, limit: number): PageRequest => ({
  ...list,
  ...(after === undefined ? {} : { after }),
  order: query.order,
  limit,
});

/** A list whose documents are answered as they are stored: joined by the engine, never parsed here. */
export const listAsStored = async <D>(
  documents: Documents<D>,
  list: List,
  url: string,
  query: ListQuery,
): Promise<ListAnswer> =>
  answerList(url, query, async (after, limit) => {
    const page = await documents.pageText(request(list, query, after, limit));
    const isLast = page.count < limit || page.last === undefined;
    return { text: page.text, count: page.count, ...(isLast ? {} : { next: page.last }) };
  });

/** A list whose documents are looked at on their way; `view` answers what the client sees, `undefined` to leave one out. */
export const listOf = async <D>(
  documents: Pick<Documents<D>, 'page'>,
  list: List,
  url: string,
  query: ListQuery,
  view: (items: readonly D[]) => Promise<readonly unknown[]>,
): Promise<ListAnswer> =>
  answerList(url, query, async (after, limit) => {
    const seen: string[] = [];
    let cursor = after;
    for (let pages = 0; pages < pagesPerAnswerMax; pages += 1) {
      const wanted = limit - seen.length;
      const page: readonly PageItem<D>[] = await documents.page(request(list, query, cursor, wanted));
      const views = await view(page.map(({ document }) => document));
      for (const one of views) if (one !== undefined) seen.push(JSON.stringify(one));
      cursor = page.at(-1)?.created ?? cursor;
      if (page.length < wanted) return { text: seen.join(','), count: seen.length };
      if (seen.length >= limit) break;
      // Between pages other requests have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { text: seen.join(','), count: seen.length, ...(cursor === undefined ? {} : { next: cursor }) };
  });
