import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { processesOf } from '@rest-services/testing';
import { promtool } from './promtool.ts';
import { labelsByName, scrape } from './scrape.ts';

const workspace = join(import.meta.dirname, '../..');
const folder = join(workspace, 'docker/observability');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  annotations?: { runbook: string };
}
const { groups } = parse(read('rules.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert }) => alert ?? []);
const dashboard = JSON.parse(read('grafana/dashboard.json')) as {
  panels: { targets?: { expr: string }[] }[];
  annotations: { list: { expr: string }[] };
};
const queries = [
  ...dashboard.panels.flatMap(({ targets = [] }) => targets),
  ...dashboard.annotations.list,
  ...rules,
].map(({ expr }) => expr);

const processes = processesOf(join(workspace, 'apps/items/dist/main.js'));

test.each([
  ['check', 'config', 'prometheus.yml'],
  ['check', 'rules', 'rules.yml'],
  ['test', 'rules', 'rules.test.yml'],
])('promtool %s %s %s succeeds', async (...args) => {
  const result = await promtool([...args.slice(0, -1), join(folder, args.at(-1)!)]);
  expect(result).toMatchObject({ code: 0 });
});

test('rules.test.yml has series for each alert that fire it, and others that do not', () => {
  const { tests } = parse(read('rules.test.yml')) as {
    tests: { promql_expr_test: { expr: string; exp_samples: object[] }[] }[];
  };
  const tried = tests.flatMap((each) => each.promql_expr_test);
  const alertsThat = (fires: boolean) =>
    tried.flatMap(({ expr, exp_samples: samples }) =>
      samples.length > 0 === fires ? /alertname="(\w+)"/.exec(expr)![1]! : [],
    );
  for (const fires of [true, false]) expect([...new Set(alertsThat(fires))].sort()).toEqual([...alerts].sort());
});

test('no alert fires for the same series of another team', async () => {
  const others = read('rules.test.yml')
    .replace('rule_files: [rules.yml]', `rule_files: ['${join(folder, 'rules.yml')}']`)
    .replaceAll('part_of="rest-services", ', '')
    // Ours are absent then.
    .replaceAll('TargetsAbsent', 'None')
    .replaceAll(/exp_samples: \[.*\]/g, 'exp_samples: []');
  const copy = await mkdtemp(join(tmpdir(), 'rules-'));
  await writeFile(join(copy, 'rules.test.yml'), others);
  expect(await promtool(['test', 'rules', join(copy, 'rules.test.yml')])).toMatchObject({ code: 0 });
  await rm(copy, { recursive: true });
});

test('the runbook of each alert is a paragraph of README.md', () => {
  const headings = [...read('README.md').matchAll(/^### (\w+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(alerts);
  const anchors = rules.flatMap(({ annotations }) => annotations?.runbook.split('#')[1] ?? []);
  expect(anchors).toEqual(alerts.map((alert) => alert.toLowerCase()));
});

/** Words of PromQL in the queries. */
const PROMQL = new Set(
  'sum max count by and or unless on offset rate increase changes absent group histogram_quantile up'.split(' '),
);
/** Labels that Prometheus adds. */
const ADDED = ['job', 'instance', 'le', 'part_of'];

test('queries of rules and dashboard use metrics and labels that a running service has', async () => {
  const url = await processes.start({ DATABASE_READ_URL: processes.database.url }).listening();
  await fetch(`${url}/v1/items`, { headers: { 'x-long': 'a'.repeat(20_000) } });
  const present = labelsByName(await scrape(url));
  const records = new Set(rules.flatMap(({ record }) => record ?? []));
  const labelsOf = (name: string) => present.get(name) ?? present.get(name.replace(/_(bucket|sum|count)$/, ''));
  expect(queries.length).toBeGreaterThan(rules.length);
  for (const query of queries) {
    // Without values and durations.
    const bare = query.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]|offset \w+/g, '');
    const words = bare.match(/[a-zA-Z_:][\w:]*/g)!;
    const metrics = words.filter((word) => labelsOf(word) ?? records.has(word));
    expect([query, metrics.length > 0 || words.includes('up')]).toEqual([query, true]);
    const labels = new Set([...ADDED, ...metrics.flatMap((name) => [...(labelsOf(name) ?? [])])]);
    const unknown = words.filter((word) => !PROMQL.has(word) && !metrics.includes(word) && !labels.has(word));
    expect([query, unknown]).toEqual([query, []]);
  }
});
