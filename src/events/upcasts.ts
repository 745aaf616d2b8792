/**
 * How stored data of an older version becomes the next version's, by type and by the version it starts from.
 * An upcast that has been released is never edited: the log holds what it was written for.
 */
export const upcasts: {
  readonly [type: string]: { readonly [fromVersion: number]: (data: unknown) => unknown };
} = {};
