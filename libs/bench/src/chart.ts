import { names } from './contestants.ts';
import { median } from './goals.ts';
import type { Sample } from './measure.ts';

const CONNECTIONS = 64;
const SCENARIOS = ['GET one', 'GET first page', 'POST'];

/** In the order of the bars, each with its colour on light and on dark ground. */
const bars = [
  { name: names.service, label: names.service, light: '#1a7f37', dark: '#3fb950' },
  { name: names.kysely, label: 'Fastify + Kysely', light: '#0969da', dark: '#58a6ff' },
  { name: names.express, label: 'Express + Sequelize', light: '#bc4c00', dark: '#f0883e' },
  { name: names.constant, label: 'Fastify with a constant', light: '#afb8c1', dark: '#484f58' },
];

const size = { width: 860, left: 190, right: 90, bar: 20, gap: 5, group: 34, top: 66 };

/**
 * Requests per second with 64 connections as a bar chart, a group for each scenario. It brings its own ground, so that it can be
 * read on a light page and on a dark one.
 */
export function chart(samples: readonly Sample[], caption: string): string {
  const groups = SCENARIOS.map((title) => ({ title, rows: rowsOf(title, samples) })).filter(
    ({ rows }) => rows.length > 0,
  );
  const most = Math.max(...groups.flatMap(({ rows }) => rows.map(({ perSecond }) => perSecond)));
  const drawn: string[] = [];
  let y = size.top;
  for (const { title, rows } of groups) {
    drawn.push(text(24, y + 18, title, 'heading'));
    y += size.group;
    for (const { bar, label, perSecond } of rows) {
      const width = Math.round((perSecond / most) * (size.width - size.left - size.right));
      drawn.push(
        text(size.left - 10, y + 15, label, 'label'),
        `<rect class="bar${bar}" x="${size.left}" y="${y}" width="${width}" height="${size.bar}" rx="3"/>`,
        text(size.left + width + 8, y + 15, Math.round(perSecond).toLocaleString('en'), 'value'),
      );
      y += size.bar + size.gap;
    }
    y += 12;
  }

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

function rowsOf(title: string, samples: readonly Sample[]) {
  const measured = samples.filter(({ scenario, connections }) => scenario === title && connections === CONNECTIONS);
  return bars
    .map(({ name, label }, bar) => {
      const own = measured.filter(({ contestant }) => contestant === name);
      return { bar, label, perSecond: median(own.map(({ perSecond }) => perSecond)) };
    })
    .filter(({ perSecond }) => perSecond > 0);
}

const text = (x: number, y: number, content: string, kind: string) =>
  `<text class="${kind}" x="${x}" y="${y}">${escaped(content)}</text>`;

const escaped = (content: string) => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const colours = (ground: 'light' | 'dark') =>
  bars.map((bar, index) => `.bar${index} { fill: ${bar[ground]} }`).join(' ');

const style = `text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 } .heading { font-weight: 600 } .caption { font-size: 12px; fill: #59636e }
.label { text-anchor: end } .value { font-variant-numeric: tabular-nums }
.ground { fill: #fff; stroke: #d1d9e0 } ${colours('light')}
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .caption { fill: #9198a1 }
.ground { fill: #0d1117; stroke: #3d444d } ${colours('dark')}
}`;
