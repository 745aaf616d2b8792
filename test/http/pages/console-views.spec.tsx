import { expect } from 'chai';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { catalogue } from '../../../src/events/index.ts';
import { ActivityPage, type ActRecord } from '../../../src/http/pages/console/activity.tsx';
import { durationText } from '../../../src/http/pages/console/frame.tsx';
import { logSentences, sentences } from '../../../src/http/pages/console/sentences.tsx';
import { act, bearer, consolePages } from '../../support/console-pages.tsx';
import { timeMs, timePlus } from '../../support/examples.ts';

const hourMs = 3_600_000;

const pageOf = (acts: readonly ActRecord[]): string =>
  renderToString(<ActivityPage tenant="acme" gone={false} acts={acts} nowMs={timeMs} />);

/** The sentences of a timeline, as a person reads them. */
const told = (...acts: readonly ActRecord[]): readonly string[] =>
  [...pageOf(acts).matchAll(/<li><time[^>]*>[^<]*<\/time><div><p>(.*?)<\/p>/g)].map(([, sentence = '']) =>
    sentence.replaceAll(/<[^>]*>/g, ''),
  );

describe('the pages of the console', () => {
  it('show a bearer on the one page that is for it, and there in what the script empties', () => {
    for (const [name, page] of Object.entries(consolePages)) {
      const html = renderToString(page);
      expect(html.split(bearer).length - 1, name).to.equal(name === 'console-bearer' ? 2 : 0);
      const emptied = [...html.matchAll(/<code[^>]* data-secret[^>]*>([^<]*)</g)];
      expect(emptied, name).to.have.length(name === 'console-bearer' ? 2 : 0);
    }
  });

  it('give no password back, however the form was filled in', () => {
    const html = renderToString(consolePages['console-user-new-wrong'] as VNode);
    const [input = ''] = html.match(/<input[^>]* id="password"[^>]*>/) ?? [];
    expect(input).to.contain('type="password"').and.to.not.contain('value=');
  });

  it('offer to revoke a credential or a key that works, and no other', () => {
    const credentials = renderToString(consolePages['console-credentials'] as VNode);
    expect(credentials.match(/\/credentials\/[^"]+\/revoke"/g)).to.have.length(2);
    const keys = renderToString(consolePages['console-keys'] as VNode);
    expect(keys.match(/\/api-keys\/[^"]+\/revoke"/g)).to.have.length(2);
  });

  it('say where in the console one is', () => {
    for (const [name, page] of Object.entries(consolePages)) {
      const current = renderToString(page).match(/aria-current="page"/g) ?? [];
      expect(current.length, name).to.be.within(1, 2);
    }
  });
});

describe('the activity of a tenant', () => {
  it('has a sentence for every type of event that names a tenant', () => {
    // None is in it: the use of a key is no act of anybody, the operator signs in to no tenant, and what is said of
    // refusals and of the log itself is of none.
    const leftOut = ['ApiKeyUsed', 'OperatorSignedIn', 'RequestsRefused', 'LogSealed'];
    const types = [...catalogue.keys()].filter((type) => !leftOut.includes(type));
    expect(Object.keys(sentences)).to.have.members(types);
  });

  it('has a sentence in the log for every type of event that there is', () =>
    expect(Object.keys(logSentences)).to.have.members([...catalogue.keys()]));

  it('reads as what was done, with names where ids are stored', () => {
    const expires_at = timePlus(hourMs);
    const key = { api_key_id: 'key_1' };
    expect(
      told(
        act('ApiKeyRevoked', key),
        act('ApiKeyRolled', { ...key, overlap_secs: 3_600 }),
        act('ApiKeyCreated', { ...key, name: 'Reports', role: 'reader', expires_at: null }),
        act('CredentialRevoked', { username: 'cred_gone' }),
        act('CredentialMinted', { username: 'cred_1', subject: 'build 42', role: 'writer', expires_at }),
        act('ServiceAccountBearerRotated', { service_account_id: 'sa_1', grace_secs: 0 }),
        act('UserCreated', { username: 'alice', role: 'writer' }),
        act('ThreadCreated', { id: 'thread_1', content: { title: 'March' } }),
      ),
    ).to.deep.equal([
      'Revoked API key Reports',
      'Rolled API key Reports (the earlier one works 1 hour more)',
      'Created API key Reports (reader, no expiration)',
      'Revoked the credential of cred_gone',
      'Minted a credential for build 42 (writer, until 4 Mar 2026, 06:06 UTC)',
      'Rotated the bearer of service account sa_1 (the earlier one ended at once)',
      'Created user alice as writer',
      'Created thread March',
    ]);
  });

  it('names a type that it does not know, and survives data that it does not expect', () => {
    expect(told(act('TenantMoved', {}))).to.deep.equal(['TenantMoved']);
    for (const type of Object.keys(sentences)) {
      expect(() => pageOf([{ ...act(type, {}), data: {} }])).to.not.throw();
      expect(() =>
        pageOf([{ ...act(type, {}), data: { content: 7, name: {}, expires_at: 1 } }]),
      ).to.not.throw();
    }
  });

  it('is grouped by days in UTC, the first two of which may have a name', () => {
    const html = pageOf([
      act('TenantCreated', {}, { time: '2026-03-04T00:00:00.000Z' }),
      act('TenantCreated', {}, { time: '2026-03-03T23:59:59.999Z' }),
      act('TenantCreated', {}, { time: '2026-03-03T00:00:00.000Z' }),
      act('TenantCreated', {}, { time: '2026-03-02T23:59:59.999Z' }),
    ]);
    const days = [...html.matchAll(/<h2 id="day-[^"]*"><time[^>]*>([^<]*)<\/time><span>([^<]*)/g)];
    expect(days.map(([, day, near]) => [day, near])).to.deep.equal([
      ['4 Mar 2026', 'Today'],
      ['3 Mar 2026', 'Yesterday'],
      ['2 Mar 2026', ''],
    ]);
    expect(html.match(/<ol class="timeline"/g)).to.have.length(3);
  });
});

describe('a length of time', () => {
  it('is said in the largest unit that needs no fraction', () => {
    expect([1, 59, 60, 5_400, 3_600, 86_400, 604_800].map(durationText)).to.deep.equal([
      '1 second',
      '59 seconds',
      '1 minute',
      '90 minutes',
      '1 hour',
      '1 day',
      '7 days',
    ]);
  });
});
