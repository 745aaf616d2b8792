import { expect } from 'chai';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { AccessChart, spanOf, ticksOf } from '../../../src/http/pages/console/access-chart.tsx';
import { chainRowsMax, cutChain } from '../../../src/http/pages/console/chain.tsx';
import { sliderOf } from '../../../src/http/pages/console/moment.tsx';
import { fieldTime, sentTime } from '../../../src/http/pages/console/times.ts';
import type { Access } from '../../../src/projections/access.ts';
import { dayMs } from '../../support/pages.tsx';
import { accessList, historyPages, longChain, proof } from '../../support/history-pages.tsx';

const htmlOf = (name: string): string => renderToString(historyPages[name] as VNode);

describe('the pages of what was', () => {
  it('say where in the console one is', () => {
    for (const [name, page] of Object.entries(historyPages))
      expect(renderToString(page).match(/aria-current="page"/g)?.length, name).to.be.within(1, 2);
  });

  it('show of what a request did no more than a page, and the way to the rest', () => {
    const { events, rows, more } = cutChain(longChain.events, chainRowsMax);
    expect([rows, more]).to.deep.equal([chainRowsMax, 61 - chainRowsMax]);
    expect(events[0]?.effects).to.have.length(chainRowsMax - 1);
    const html = htmlOf('console-event-sealed');
    expect(html).to.contain('11 more are not shown.').and.to.contain('Every event of the request');
    expect(htmlOf('console-event')).to.not.contain('Every event of the request');
  });

  it('nest each event of a request below the one that led to it, and mark the one that is shown', () => {
    const chain = htmlOf('console-event').split('<ol class="chain">');
    expect(chain).to.have.length(4);
    expect(chain[1]).to.contain('aria-current="true"');
    expect(chain[2]).to.contain('/console/events/e1').and.to.not.contain('/console/events/e2');
    expect(chain[3]).to.contain('/console/events/e2');
  });

  it('show the proof of an event that is sealed, and say that one is not sealed yet', () => {
    const sealed = htmlOf('console-event-sealed');
    const { leaf_hash, hashes, checkpoint } = proof;
    for (const text of [leaf_hash, ...hashes, checkpoint.root_hash, checkpoint.note])
      expect(sealed).to.contain(text);
    expect(htmlOf('console-event-unsealed'))
      .to.contain('Not sealed yet.')
      .and.to.not.contain('id="checkpoint"');
  });
});

const [from, to] = ['2026-03-01T00:00:00.000Z', '2026-03-05T00:00:00.000Z'];
const span = { fromMs: Date.parse(from), toMs: Date.parse(to) };

const day = (number: number): string => `2026-03-0${number}T00:00:00.000Z`;

/** The bars of a chart, each as where it begins and how wide it is, and the marks at their ends. */
const drawn = (
  ...list: readonly Partial<Access>[]
): { bars: readonly string[]; marks: readonly string[] } => {
  const whole = list.map((one): Access => ({ ...(accessList.at(-2) as Access), ...one }));
  const html = renderToString(<AccessChart list={whole} span={span} />).split('class="legend"')[0] ?? '';
  return {
    bars: [...html.matchAll(/<rect x="([^"]*)" width="([^"]*)"/g)].map(([, x, width]) => `${x} ${width}`),
    marks: [...html.matchAll(/<svg x="([^"]*)"[^>]* class="mark-(\w+)"/g)].map(([, x, end]) => `${end} ${x}`),
  };
};

describe('the chart of access', () => {
  const ended = accessList.find((one) => one.ended_by?.kind === 'event')?.ended_by ?? null;

  it('has a bar from the grant to the end, as much of it as lies within, and says how it ends', () => {
    expect(
      drawn(
        { from: day(2), until: day(4), ended_by: ended },
        { from: day(4), until: null },
        { from: '2026-02-01T00:00:00.000Z', until: day(3), ended_by: { kind: 'expiry' } },
        { from: day(3), until: '2026-04-01T00:00:00.000Z', ended_by: { kind: 'expiry' } },
      ),
    ).to.deep.equal({
      bars: ['25% 50%', '75% 25%', '0% 50%', '50% 50%'],
      marks: ['ended 75%', 'open 100%', 'expiry 50%', 'open 100%'],
    });
  });

  it('shows what was too short to be seen, also at its very end', () => {
    const { bars } = drawn({ from: to, until: to, ended_by: ended }, { from, until: from, ended_by: ended });
    expect(bars).to.deep.equal(['99.6% 0.4%', '0% 0.4%']);
  });

  it('has one row for each who could get in, with all that its bars say in words', () => {
    const html = htmlOf('console-access');
    const labels = [...html.matchAll(/role="img" aria-label="([^"]*)"/g)].map(([, label = '']) => label);
    expect(labels).to.have.length(new Set(accessList.map(({ principal }) => principal)).size);
    expect(labels[1]).to.equal(
      'Service account Deploys: from 23 Feb 2026, 05:06 UTC, no end; ' +
        'from 17 Feb 2026, 05:06 UTC, until 23 Feb 2026, 05:06 UTC',
    );
    expect(html.match(/<tr>|<tr class="faded">/g)).to.have.length(accessList.length + 1);
  });

  it('has an axis of whole hours, days or years, of few marks', () => {
    for (const [lengthMs, stepMs] of [
      [60_000, 60_000],
      [3_600_000, 30 * 60_000],
      [dayMs, 6 * 3_600_000],
      [4 * dayMs, dayMs],
      [30 * dayMs, 7 * dayMs],
      [40 * 365 * dayMs, 8 * 365 * dayMs],
    ] as const) {
      const ticks = ticksOf({ fromMs: span.fromMs + 1, toMs: span.fromMs + 1 + lengthMs });
      expect(ticks.stepMs).to.equal(stepMs);
      expect(ticks.atMs).to.have.length.within(1, 6);
      for (const ms of ticks.atMs) expect(ms % stepMs).to.equal(0);
    }
  });

  it('shows the time that is asked for, else all from the first grant until now', () => {
    expect(spanOf([{ from }], {}, span.toMs)).to.deep.equal(span);
    expect(spanOf([{ from: to }], { from, to }, Number.MAX_SAFE_INTEGER)).to.deep.equal(span);
    const { fromMs, toMs } = spanOf([{ from }], {}, span.fromMs);
    expect(toMs).to.be.above(fromMs);
  });
});

describe('a field for date and time', () => {
  it('shows an instant in UTC, as short as it can be, and gives the same one back', () => {
    for (const [at, shown] of [
      ['2026-03-04T05:06:00.000Z', '2026-03-04T05:06'],
      ['2026-03-04T05:06:07.000Z', '2026-03-04T05:06:07'],
      ['2026-03-04T05:06:07.890Z', '2026-03-04T05:06:07.890'],
      ['2026-03-04T00:06:00-05:00', '2026-03-04T05:06'],
    ] as const) {
      expect(fieldTime(at)).to.equal(shown);
      expect(Date.parse(sentTime(shown))).to.equal(Date.parse(at));
    }
  });

  it('shows nothing for what is no instant, and leaves that to be refused', () => {
    for (const text of ['soon', '2026-13-04T05:06', '']) {
      expect(fieldTime(text)).to.equal(undefined);
      expect(sentTime(text)).to.equal(text);
    }
    expect(fieldTime(undefined)).to.equal(undefined);
  });
});

describe('a page as of a moment', () => {
  const pastPages = Object.keys(historyPages).filter((name) => name.startsWith('console-past-'));

  it('says so with the way back to now, and changes nothing', () => {
    for (const name of pastPages.filter((one) => !/unavailable|wrong/.test(one))) {
      const html = htmlOf(name);
      expect(html, name).to.contain('As of 2 Feb 2026, 05:06:07 UTC').and.to.contain('Back to now');
      const [, main = ''] = html.split('<main');
      expect(main, name).to.not.contain('method="post"');
      expect(main, name).to.not.match(/href="[^"]*\/(new|delete|revoke|rotate)["?]/);
    }
  });

  it('leads to the same moment, but for what is no page of it', () => {
    for (const name of pastPages.filter((one) => !/unavailable|wrong/.test(one))) {
      const [, main = ''] = htmlOf(name).split('<main');
      const links = [...main.matchAll(/<a (?:class="[^"]*" )?href="([^"]*)"[^>]*>([^<]*)/g)];
      const left = links.filter(
        ([, href = '', text]) => !href.includes('as_of=2026-02-02') && text !== 'Back to now',
      );
      for (const [, href = ''] of left)
        expect(href, name).to.match(/^\/console\/(events|access)|^\/apidoc|^\/problems|^\?before=/);
    }
  });

  it('has a slider over the life of the log whose last place is now', () => {
    const [firstMs, nowMs] = [Date.parse(from), Date.parse(to)];
    for (const lengthMs of [0, 1, 999, 1_000, 499_000, 501_000, nowMs - firstMs, 4_000 * dayMs]) {
      const { min, max, step } = sliderOf(nowMs - lengthMs, nowMs);
      expect(max).to.equal(nowMs / 1000);
      expect(min)
        .to.be.at.most((nowMs - lengthMs) / 1000)
        .and.to.be.below(max);
      expect((max - min) % step).to.equal(0);
      expect((max - min) / step).to.be.at.most(501);
    }
    expect(htmlOf('console-past-users')).to.match(/<div class="slider" hidden[^>]*>/);
    expect(htmlOf('console-past-tenants-empty')).to.not.contain('type="range"');
  });
});
