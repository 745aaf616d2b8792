import { expect } from 'chai';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { chainRowsMax, cutChain } from '../../../src/http/pages/console/chain.tsx';
import { fieldTime, sentTime } from '../../../src/http/pages/console/times.ts';
import { historyPages, longChain, proof } from '../../support/history-pages.tsx';

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

  it('show the proof of an event that is sealed, say that one is not sealed yet, and of others nothing', () => {
    const sealed = htmlOf('console-event-sealed');
    const { leaf_hash, hashes, checkpoint } = proof;
    for (const text of [leaf_hash, ...hashes, checkpoint.root_hash, checkpoint.note])
      expect(sealed).to.contain(text);
    expect(htmlOf('console-event-unsealed'))
      .to.contain('Not sealed yet.')
      .and.to.not.contain('id="checkpoint"');
    expect(htmlOf('console-event')).to.not.contain('Proof');
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
