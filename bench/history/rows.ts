import { formatMegabytes } from '../memory.ts';
import { formatRate, formatTable } from '../table.ts';

/** No command and no service should ever take more, whatever the log's length. */
const memoryMegabytesMax = 300;

/** One line of the table. */
export type HistoryRow = {
  readonly what: string;
  readonly result: string;
  readonly aim?: { readonly text: string; readonly reached: boolean };
  readonly peakBytes?: number;
};

/** So many events in so long, beside the least that there should be of them in a second. */
export const eventsRow = (
  what: string,
  { events, ms, peakBytes }: { readonly events: number; readonly ms: number; readonly peakBytes: number },
  perSecondMin?: number,
): HistoryRow => {
  const perSecond = events / (ms / 1000);
  return {
    what,
    result: `${formatRate(perSecond)} events/s · ${(ms / 1000).toFixed(1)} s`,
    peakBytes,
    ...(perSecondMin !== undefined && {
      aim: { text: `${formatRate(perSecondMin)} events/s`, reached: perSecond >= perSecondMin },
    }),
  };
};

const formatPeak = (peakBytes: number | undefined): string => {
  if (peakBytes === undefined) return '–';
  const isAbove = peakBytes > memoryMegabytesMax * 1e6;
  return `${formatMegabytes(peakBytes)}${isAbove ? ', above' : ''}`;
};

/** The rows as a Markdown table. */
export const formatHistory = (rows: readonly HistoryRow[]): string =>
  formatTable(
    ['what', 'result', 'aim', 'reached', `peak memory (aim ${memoryMegabytesMax} MB)`],
    rows.map(({ what, result, aim, peakBytes }) => [
      what,
      result,
      aim?.text ?? '–',
      aim === undefined ? '–' : aim.reached ? 'yes' : 'no',
      formatPeak(peakBytes),
    ]),
  );
