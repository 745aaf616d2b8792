import type { JSX } from 'preact';
import { Layout, type Who } from './layout.tsx';

/** What went wrong, in the words of the problem document that a program would have got. */
export type ErrorPageProps = {
  readonly who?: Who | undefined;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
};

/** In place of a page that can't be shown. The request id leads whoever is asked for help to the log. */
export const ErrorPage = ({ who, status, title, detail, requestId }: ErrorPageProps): JSX.Element => (
  <Layout title={title} who={who} narrow>
    <div class="card failure">
      <p class="code-number">Error {status}</p>
      <h1>{title}</h1>
      <p>{detail}</p>
      <p>
        <a class="button" href={who?.kind === 'operator' ? '/console' : '/'}>
          Back to the start
        </a>
      </p>
      <p class="hint">
        When you ask for help, name this request:
        <br />
        <code>{requestId}</code>
      </p>
    </div>
  </Layout>
);
