import { names } from './contestants.ts';
import { metrics, spreadOf, type Cell } from './statistics.ts';

const CONNECTIONS = 64;

/** In the order of the bars, each with its colour on light and on dark ground. */
const bars: [name: string, light: string, dark: string][] = [
  [names.service, '#1a7f37', '#3fb950'],
  [names.statementPerRequest, '#0969da', '#58a6ff'],
  [names.express, '#bc4c00', '#f0883e'],
  [names.constant, '#afb8c1', '#484f58'],
];

const size = { width: 860, left: 310, right: 90, bar: 20, gap: 5, group: 34, top: 66 };

/**
 * Requests per second with 64 connections as a bar chart, one group for each scenario that was measured, the spread
 * as a thin line. It brings its own ground, so that it can be read on a light page and on a dark one.
 * @param titles of the scenarios that are shown, by their names
 */
export function chart(cells: Cell[], titles: ReadonlyMap<string, string>, caption: string): string {
  const groups = [...titles].flatMap(([name, title]) => {
    const cell = cells.find(({ scenario, connections }) => scenario === name && connections === CONNECTIONS);
    return cell ? [{ title, rows: rowsOf(cell) }] : [];
  });
  const most = Math.max(...groups.flatMap(({ rows }) => rows.map(({ spread }) => spread.max)));
  const scale = (value: number) => (value / most) * (size.width - size.left - size.right);

  let y = size.top;
  const drawn = groups.map(({ title, rows }) => {
    const heading = text(24, y + 18, title, 'heading');
    y += size.group;
    const lines = rows.map(({ index, name, spread }) => {
      const middle = y + size.bar / 2;
      const end = size.left + scale(spread.median);
      const [least, greatest] = [spread.min, spread.max].map((value) => rounded(size.left + scale(value)));
      const line = [
        text(size.left - 10, middle + 5, name, 'name'),
        `<rect class="bar${index}" x="${size.left}" y="${y}" width="${rounded(end - size.left)}" height="${size.bar}" rx="3"/>`,
        `<path class="spread" d="M${least} ${middle}H${greatest}"/>`,
        text(Math.max(end, greatest!) + 8, middle + 5, Math.round(spread.median).toLocaleString('en'), 'value'),
      ];
      y += size.bar + size.gap;
      return line.join('\n');
    });
    y += 12;
    return [heading, ...lines].join('\n');
  });

  const height = y + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" width="${size.width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Requests per second with ${CONNECTIONS} connections. ${escaped(caption)}</title>
<style>
${style}
</style>
<rect class="ground" x="0.5" y="0.5" width="${size.width - 1}" height="${height - 1}" rx="8"/>
${text(24, 32, `Requests per second, ${CONNECTIONS} connections`, 'title')}
${text(24, 52, caption, 'caption')}
${drawn.join('\n')}
</svg>
`;
}

function rowsOf({ samples }: Cell) {
  return bars.flatMap(([name], index) => {
    const spread = spreadOf((samples.get(name) ?? []).map(metrics.requests));
    return spread ? [{ index, name, spread }] : [];
  });
}

const text = (x: number, y: number, content: string, kind: string) =>
  `<text class="${kind}" x="${rounded(x)}" y="${rounded(y)}">${escaped(content)}</text>`;

const rounded = (value: number) => Math.round(value * 10) / 10;

const escaped = (content: string) => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const colours = (which: 1 | 2) => bars.map((bar, index) => `.bar${index} { fill: ${bar[which]} }`).join(' ');

const style = `text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 } .heading { font-weight: 600 } .caption { font-size: 12px; fill: #59636e }
.name { text-anchor: end } .value { font-variant-numeric: tabular-nums } .spread { stroke: #1f2328; stroke-width: 1.5 }
.ground { fill: #fff; stroke: #d1d9e0 } ${colours(1)}
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .caption { fill: #9198a1 } .spread { stroke: #f0f6fc }
.ground { fill: #0d1117; stroke: #3d444d } ${colours(2)}
}`;
