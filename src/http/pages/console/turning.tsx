import type { JSX } from 'preact';

/** Where the pages beside one of a list by time are; absent where there are none. */
export type Turning = {
  readonly olderHref?: string | undefined;
  readonly newerHref?: string | undefined;
};

/** The ways to the pages beside this one: the one to read on with is the last. */
export const Turn = (props: Turning & { readonly oldestFirst?: boolean | undefined }): JSX.Element | null => {
  const older = { href: props.olderHref, text: 'Older' };
  const newer = { href: props.newerHref, text: 'Newer' };
  const [back, onward] = props.oldestFirst === true ? [older, newer] : [newer, older];
  return back.href === undefined && onward.href === undefined ? null : (
    <nav class="pager turn" aria-label="Pages">
      {back.href !== undefined && (
        <a class="button quiet" href={back.href} rel="prev">
          {back.text}
        </a>
      )}
      {onward.href !== undefined && (
        <a class="button quiet" href={onward.href} rel="next">
          {onward.text}
        </a>
      )}
    </nav>
  );
};
