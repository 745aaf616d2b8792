import type { IncomingHttpHeaders } from 'node:http';

/** What a request asks of the revision of the resource it is about (RFC 9110 §13.1). */
export type Preconditions = {
  /** Revisions one of which the resource must have for a change; absent where any will do. */
  readonly ifRevision?: readonly number[];
  /** The entity tags that the client has, of which none is to be sent again; `*` for any. */
  readonly ifNoneMatch?: readonly string[];
};

/** The entity tag of a revision: a strong one. */
export const etagOf = (revision: number): string => `"${revision}"`;

const tagsOf = (header: string): readonly string[] => header.split(',').map((tag) => tag.trim());

/**
 * The preconditions of these headers. What is no tag of ours names no revision: a change on it is refused, as one
 * that was made on another state.
 */
export const preconditionsOf = (headers: IncomingHttpHeaders): Preconditions => {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  return {
    ...(match === undefined || match.trim() === '*'
      ? {}
      : {
          ifRevision: tagsOf(match).flatMap((tag) =>
            /^"(?:0|[1-9]\d{0,14})"$/.test(tag) ? [Number(tag.slice(1, -1))] : [],
          ),
        }),
    ...(noneMatch === undefined ? {} : { ifNoneMatch: tagsOf(noneMatch) }),
  };
};

/** Whether the client has this revision already. A weak tag will do for a read (RFC 9110 §8.8.3.2). */
export const hasAlready = ({ ifNoneMatch }: Preconditions, revision: number): boolean =>
  ifNoneMatch?.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etagOf(revision)) ?? false;
