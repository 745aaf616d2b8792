import { expect } from 'chai';
import { withProgress } from '../../src/cli/progress.ts';
import { createScreen } from '../../src/cli/screen.ts';
import { until } from '../support/waiting.ts';

/** What stands for a stream, and all that was written on it. */
const createOutput = (isTTY: boolean, columns = 80) => {
  let written = '';
  return {
    isTTY,
    columns,
    write: (text: string): void => {
      written += text;
    },
    written: (): string => written,
  };
};

describe('the progress of a command', () => {
  it('is a bar with rate and time left on a terminal, and leaves the line empty', async () => {
    const output = createOutput(true);
    await withProgress({ what: 'copying', total: 200 }, createScreen(output), async ({ add }) => {
      add(100);
      await until('it is drawn', () => output.written().includes('['));
    });
    const [, line = ''] = output
      .written()
      .split('\r\u001b[2K')
      .filter((text, n) => text !== '' || n === 0);
    expect(line).to.match(/^copying \[(#+)(\.+)\] 100 of 200 events, [\d,]+\/s, \d+ s left$/);
    expect(line.length).to.be.lessThan(80);
    expect(line.split('#').length).to.equal(line.split('.').length);
    expect(output.written().endsWith('\u001b[2K')).to.equal(true);
  });

  it('never draws wider than the terminal is', async () => {
    const output = createOutput(true, 30);
    await withProgress({ what: 'copying', total: 200_000 }, createScreen(output), async ({ set }) => {
      set(100_000);
      await until('it is drawn', () => output.written() !== '');
    });
    for (const line of output.written().split('\r\u001b[2K')) expect(line.length).to.be.lessThan(30);
  });

  it('is plain lines elsewhere', async () => {
    const output = createOutput(false);
    await withProgress({ what: 'copying', total: 200 }, createScreen(output), async ({ add }) => {
      add(150);
      await until('it is told', () => output.written() !== '');
    });
    expect(output.written()).to.match(/^copying: 150 of 200 events, [\d,]+\/s, \d+ s left\n$/);
  });

  it('leaves lines that stay above the bar', () => {
    const output = createOutput(true);
    const screen = createScreen(output);
    screen.draw('half');
    screen.tell('resumed');
    expect(output.written()).to.equal('\r\u001b[2Khalf\r\u001b[2Kresumed\n\r\u001b[2Khalf');
  });
});
