import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { startProcess } from '@rest-services/testing';
import pg from 'pg';
import { parse } from 'yaml';
import { install, main } from './program.ts';

install('prometheus');

const folder = join(import.meta.dirname, '../observability');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  annotations?: { runbook: string };
}

const { groups } = parse(read('rules.yml')) as { groups: { rules: Rule[] }[] };
/** Recordings and alerts of rules.yml. */
const rules = groups.flatMap((group) => group.rules);

const dashboard = JSON.parse(read('grafana/dashboard.json')) as {
  panels: { targets?: { expr: string }[] }[];
  annotations: { list: { expr: string }[] };
};
/** Queries of the dashboard, with the variables that Grafana replaces. */
const dashboardQueries = [
  ...dashboard.panels.flatMap(({ targets = [] }) => targets),
  ...dashboard.annotations.list,
].map(({ expr }) => expr);

const firstHour = read('first-hour.md');

/** Metrics that have a value only after a check or a fold in the background. */
const FOUND_OUT = ['database_table_rows', 'database_migrations', 'database_row_counts_folded_timestamp_seconds'];

let database: TestDatabase;
let metrics: string;
let labels: Map<string, Set<string>>;

// Starts the items service with every optional metric.
beforeAll(async () => {
  database = await createTestDatabase();
  const service = startProcess(main, { DATABASE_URL: database.url, DATABASE_READ_URL: database.url });
  const url = await service.listening();
  // Until there is a request, none has a route and a status; a 400 of Node.js itself has its own metric.
  await fetch(`${url}/v1/items`);
  await fetch(`${url}/v1/items`, { headers: { 'x-long': 'a'.repeat(20_000) } });
  do metrics = await (await fetch(`${url}/metrics`)).text();
  while (!FOUND_OUT.every((name) => metrics.includes(`\n${name}{`)));
  service.child.kill('SIGKILL');
  await service.ended;
  labels = labelsByName();
});
afterAll(() => database.drop());

/** Labels of each metric in Prometheus' format. A histogram stands under its own name, without `le`. */
function labelsByName() {
  const found = new Map<string, Set<string>>();
  let name = '';
  for (const line of metrics.split('\n')) {
    if (line.startsWith('# TYPE ')) {
      name = line.split(' ')[2]!;
      found.set(name, new Set());
    } else if (!line.startsWith('#')) {
      const [, own = ''] = /^\w+\{(.*)\} /.exec(line) ?? [];
      for (const [, label] of own.matchAll(/(\w+)="/g))
        if (label !== 'le' && label !== 'quantile') found.get(name)!.add(label!);
    }
  }
  return found;
}

/** Matches of the first group, each once. */
const namedIn = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))];

test('promtool check metrics finds nothing in /metrics', () => {
  expect(execFileSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' })).toBe('');
});

test('docker/metrics.md lists the metrics that a service has, each with its labels', () => {
  const page = read('../metrics.md');
  const listed = namedIn(page, /^- `([a-z_]+(?:\*|\{[a-z_,]+\})?)`: /gm);
  const families = listed.flatMap((name) => (name.endsWith('*') ? name.slice(0, -1) : []));
  const present = [...labels]
    .filter(([name]) => !families.some((family) => name.startsWith(family)))
    .map(([name, own]) => (own.size > 0 ? `${name}{${[...own].join(',')}}` : name));
  expect(listed.filter((name) => !name.endsWith('*')).sort()).toEqual(present.sort());
});

/** Words of PromQL in the queries. */
const PROMQL =
  'sum max count by and or unless on offset rate increase changes absent group histogram_quantile up'.split(' ');
/** Labels that Prometheus adds. */
const ADDED = ['job', 'instance', 'le', 'part_of'];

test('alerts, dashboard and first-hour.md use metrics and labels that a service has', () => {
  // As they stand in output, or in the text.
  const series = namedIn(
    firstHour,
    /((?:http|database|service|process|nodejs)_[a-z0-9_]+(?:\{[^}]*\})?)(?= [\d.]+$|`)/gm,
  );
  expect(series).not.toEqual([]);
  const records = rules.flatMap(({ record }) => record ?? []);
  const labelsOf = (name: string) => labels.get(name) ?? labels.get(name.replace(/_(bucket|sum|count)$/, ''));
  for (const query of [...rules.map(({ expr }) => expr), ...dashboardQueries, ...series]) {
    // Without values and durations.
    const bare = query.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]|offset \w+/g, '');
    const words = bare.match(/[a-zA-Z_:][\w:]*/g)!;
    const used = words.filter((word) => labelsOf(word) ?? records.includes(word));
    expect([query, used.length > 0 || words.includes('up')]).toEqual([query, true]);
    const known = [...PROMQL, ...ADDED, ...used, ...used.flatMap((name) => [...(labelsOf(name) ?? [])])];
    expect([query, words.filter((word) => !known.includes(word))]).toEqual([query, []]);
  }
});

test('first-hour.md shows reasons and log messages that a service has', () => {
  const [, causes] = /^## 503\n[^]*?\*\*Cause\*\*:\n([^]*?)\*\*Action/m.exec(firstHour)!;
  const reasons = namedIn(causes!, /`([a-z_]+)`/g);
  expect(reasons.filter((reason) => !metrics.includes(`{reason="${reason}"}`))).toEqual([]);
  // esbuild breaks long lines, within strings as well.
  const bundle = readFileSync(main, 'utf8').replaceAll('\\\n', '');
  const messages = namedIn(firstHour, /"msg":"([^"]+)"\}/g);
  expect(messages.filter((message) => !bundle.includes(message))).toEqual([]);
  expect([reasons, messages]).not.toContainEqual([]);
});

test('the queries for a session that waits show the one that blocks it', async () => {
  const queries = namedIn(firstHour, /```sql\n(select (?:pid|waiting).*?)```/gs);
  expect(queries).toHaveLength(2);
  const [holder, waiting, observer] = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const client = new pg.Client(database.url);
      await client.connect();
      return client;
    }),
  );
  await holder!.query('create table note ()');
  await holder!.query('begin; lock table note');
  const read = waiting!.query('select from note');
  const blocked = 'select from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0';
  while ((await observer!.query(blocked)).rowCount === 0);
  for (const query of queries) {
    const { rows } = await observer!.query<{ state: string }>(query);
    expect([query, rows.map(({ state }) => state)]).toEqual([query, expect.arrayContaining(['idle in transaction'])]);
  }
  await holder!.query('commit');
  await read;
  await Promise.all([holder, waiting, observer].map((client) => client!.end()));
});

const alerts = rules.flatMap(({ alert }) => alert ?? []);

const copy = mkdtempSync(join(tmpdir(), 'rules-'));
afterAll(() => rmSync(copy, { recursive: true }));

/** @throws Error with what promtool says when it finds something */
const promtool = (...args: string[]) =>
  execFileSync('promtool', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

/** @returns the path of a file in a folder of this test */
function written(name: string, text: string) {
  writeFileSync(join(copy, name), text);
  return join(copy, name);
}

test('promtool accepts the configuration, the rules, and each query of the dashboard', () => {
  promtool('check', 'config', 'prometheus.yml');
  promtool('check', 'rules', 'rules.yml');
  const recordings = dashboardQueries.map((expr, index) => ({
    record: `dashboard:${index}`,
    expr: expr.replaceAll('$__rate_interval', '1m'),
  }));
  const groups = [{ name: 'dashboard', rules: recordings }];
  promtool('check', 'rules', written('dashboard.yml', JSON.stringify({ groups })));
});

test('rules.test.yml has series for each alert that fire it, and others that do not', () => {
  promtool('test', 'rules', 'rules.test.yml');
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

test('no alert fires for the same series of another team', () => {
  const others = read('rules.test.yml')
    .replace('rule_files: [rules.yml]', `rule_files: ['${join(folder, 'rules.yml')}']`)
    .replaceAll('part_of="rest-services", ', '')
    // Ours are absent then.
    .replaceAll('TargetsAbsent', 'None')
    .replaceAll(/exp_samples: \[.*\]/g, 'exp_samples: []');
  promtool('test', 'rules', written('rules.test.yml', others));
});

test('the runbook of each alert is a section of first-hour.md', () => {
  const sections = namedIn(firstHour, /^## (.+)$/gm).map((title) => title.toLowerCase().replaceAll(' ', '-'));
  const runbooks = rules.flatMap(({ annotations }) => annotations?.runbook.split('/first-hour.md#')[1] ?? []);
  expect(runbooks).toHaveLength(alerts.length);
  expect(sections).toEqual(expect.arrayContaining(runbooks));
});
