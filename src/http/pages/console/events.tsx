import type { JSX } from 'preact';
import { Heading } from '../parts.tsx';
import { FoundActs, type FoundProps } from './activity.tsx';
import { consolePath, ConsolePage } from './frame.tsx';

/** One page of the whole log: every event of every tenant and of none, by what is looked for. */
export const EventsPage = (props: FoundProps): JSX.Element => (
  <ConsolePage title="Audit log" current="events">
    <Heading
      title="Audit log"
      about="Every event of the log, with who did it, from where and why. Times are in UTC."
    >
      <a class="button quiet" href={consolePath('checkpoints')}>
        Checkpoints
      </a>
    </Heading>
    <FoundActs {...props} action={consolePath('events')} showTenant />
  </ConsolePage>
);
