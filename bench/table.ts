import { connectionCounts, operationTitles, type Operation } from './operations.ts';
import type { Cell } from './rounds.ts';
import { median } from './statistics.ts';

/** From this share of a core on, the client may have been the limit; the cell is marked. */
const clientCpuLimit = 0.9;

/** The medians of one cell over the rounds. */
export type Figure = {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly clientCpu: number;
};

/** One row of the table: figures by side, and ratios of the first side to others, by their title. */
export type Row = {
  readonly operation: Operation;
  readonly connections: number;
  readonly figures: Readonly<Record<string, Figure>>;
  readonly ratios: Readonly<Record<string, number>>;
};

/** The least that a ratio should be, by the side that it is to and the operation. */
export type Aims = Readonly<Record<string, Partial<Record<Operation, number>>>>;

/** The cells' medians, row by row. A ratio is the median of each round's own ratio, so that slow moments cancel. */
export const summarise = (
  cells: readonly Cell[],
  sides: readonly string[],
  ratiosTo: readonly string[],
): Row[] => {
  const operations = [...new Set(cells.map(({ operation }) => operation))];
  return operations.flatMap((operation) =>
    connectionCounts.map((connections) => {
      const row = cells.filter((cell) => cell.operation === operation && cell.connections === connections);
      const of = (side: string): Cell[] => row.filter((cell) => cell.side === side);
      const known = (side: string): boolean => of(side).length > 0;
      const first = of(sides[0] ?? '');
      const ratio = (side: string): number =>
        median(
          of(side).map(
            ({ result }, i) => (first[i]?.result.requestsPerSecond ?? 0) / result.requestsPerSecond,
          ),
        );
      return {
        operation,
        connections,
        figures: Object.fromEntries(sides.filter(known).map((side) => [side, figure(of(side))])),
        ratios: Object.fromEntries(ratiosTo.filter(known).map((side) => [side, ratio(side)])),
      };
    }),
  );
};

const figure = (cells: readonly Cell[]): Figure => ({
  requestsPerSecond: median(cells.map(({ result }) => result.requestsPerSecond)),
  p50Ms: median(cells.map(({ result }) => result.p50Ms)),
  p99Ms: median(cells.map(({ result }) => result.p99Ms)),
  clientCpu: median(cells.map(({ result }) => result.clientCpu)),
});

/** The rows as a Markdown table: requests/s, then p50 / p99 in milliseconds. */
export const formatRows = (
  rows: readonly Row[],
  sides: readonly string[],
  ratiosTo: readonly string[],
): string => {
  const ratioTitles = ratiosTo.map((side) => `${sides[0]} ÷ ${side}`);
  const lines = rows.map(({ operation, connections, figures, ratios }) => [
    operationTitles[operation],
    String(connections),
    ...sides.map((side) => formatFigure(figures[side])),
    ...ratiosTo.map((side) => (ratios[side] === undefined ? '–' : `${ratios[side].toFixed(2)} ×`)),
  ]);
  return formatTable(['operation', 'connections', ...sides, ...ratioTitles], lines);
};

/** The ratios at the most connections as a Markdown table, each beside what it should be. */
export const formatAims = (rows: readonly Row[], aims: Aims): string =>
  formatTable(
    ['operation', ...Object.keys(aims).flatMap((side) => [`÷ ${side}`, 'aim'])],
    rows
      .filter(({ connections }) => connections === Math.max(...connectionCounts))
      .map(({ operation, ratios }) => [
        operationTitles[operation],
        ...Object.entries(aims).flatMap(([side, of]) => [
          ratios[side]?.toFixed(2) ?? '–',
          of[operation]?.toFixed(2) ?? '–',
        ]),
      ]),
  );

const formatFigure = (it: Figure | undefined): string => {
  if (it === undefined) return '–';
  const mark = it.clientCpu >= clientCpuLimit ? ' *' : '';
  return `${formatRate(it.requestsPerSecond)}/s · ${formatMs(it.p50Ms)} / ${formatMs(it.p99Ms)}${mark}`;
};

/** A rate as people read it: `12,345`. */
export const formatRate = (perSecond: number): string => Math.round(perSecond).toLocaleString('en-US');

/** Milliseconds with three significant digits, at most three decimals. */
export const formatMs = (ms: number): string => ms.toFixed(ms < 1 ? 3 : ms < 10 ? 2 : 1);

/** A Markdown table; every line has as many columns as the head. */
export const formatTable = (head: readonly string[], lines: readonly (readonly string[])[]): string => {
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'));
  return [head, rule, ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
};
