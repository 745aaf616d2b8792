import type { JSX } from 'preact';
import { refusals, type RefusalCode } from '../../refusals.ts';
import { slugOf, statusOfCode } from '../problem.ts';
import { Layout } from './layout.tsx';
import { Heading } from './parts.tsx';

/** A text in which what stands between backticks is code. */
const Prose = ({ text }: { readonly text: string }): JSX.Element => (
  <>{text.split('`').map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>))}</>
);

/** What the `type` of a problem document points at: what a code means, and what to do about it. */
export const ProblemPage = ({ code }: { readonly code: RefusalCode }): JSX.Element => {
  const { title, help } = refusals[code];
  return (
    <Layout title={title} narrow>
      <Heading title={title} back={{ href: '/problems', text: 'Error codes' }} />
      <div class="card">
        <dl class="facts">
          <dt>Code</dt>
          <dd>
            <code>{code}</code>
          </dd>
          <dt>Status</dt>
          <dd>{statusOfCode(code)}</dd>
          <dt>What to do</dt>
          <dd>
            <Prose text={help} />
          </dd>
        </dl>
      </div>
    </Layout>
  );
};

/** All codes, in the order of the statuses that they are answered with. */
export const ProblemsPage = (): JSX.Element => (
  <Layout title="Error codes">
    <Heading title="Error codes" about="Every error has a code that never changes: programs switch on it." />
    <div class="card">
      <dl class="codes">
        {(Object.keys(refusals) as RefusalCode[])
          .toSorted((a, b) => statusOfCode(a) - statusOfCode(b) || a.localeCompare(b))
          .map((code) => (
            <div>
              <dt>
                <a href={`/problems/${slugOf(code)}`}>
                  <code>{code}</code>
                </a>
              </dt>
              <dd>
                {statusOfCode(code)} · {refusals[code].title}
              </dd>
            </div>
          ))}
      </dl>
    </div>
  </Layout>
);
