import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { openTestConnection, startProcess } from '@rest-services/testing';
import { sql } from 'kysely';
import { parse } from 'yaml';
import { install, main } from './program.ts';

install('prometheus');

const folder = join(import.meta.dirname, '../observability');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

interface Rule {
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
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
const dashboardQueries = [...targets, ...dashboard.annotations.list].map(({ expr }) => expr);

const firstHour = read('first-hour.md');

/** @throws Error with what promtool says when it finds something */
const promtool = (...args: string[]) => execFileSync('promtool', args, { cwd: folder, stdio: 'pipe' });

/** Metrics that have a value only after a check or a fold in the background. */
const FOUND_OUT = ['database_table_rows', 'database_migrations', 'database_row_counts_folded_timestamp_seconds'];

// Starts the items service with every optional metric.
const database = await createTestDatabase();
const service = startProcess(main, { DATABASE_URL: database.url, DATABASE_READ_URL: database.url });
const url = await service.listening();
// Until there is a request, none has a route and a status; a 400 of Node.js itself has its own metric.
await fetch(`${url}/v1/items`);
await fetch(`${url}/v1/items`, { headers: { 'x-long': 'a'.repeat(20_000) } });
let metrics: string;
do metrics = await (await fetch(`${url}/metrics`)).text();
while (!FOUND_OUT.every((name) => metrics.includes(`\n${name}{`)));
service.child.kill('SIGKILL');
await service.ended;
afterAll(() => database.drop());

/** Matches of the first group, each once. */
const namedIn = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))];

/** Labels of each metric. A histogram stands under its own name, without `le`. */
const families = metrics.split(/^# HELP /m).slice(1);
const labelsIn = (family: string) => namedIn(family, /[{,](\w+)="/g).filter((name) => !/^(le|quantile)$/.test(name));
const labels = new Map(families.map((family) => [/\w+/.exec(family)![0], labelsIn(family)]));

test('promtool check metrics finds nothing in /metrics', () => {
  expect(execFileSync('promtool', ['check', 'metrics'], { input: metrics, encoding: 'utf8' })).toBe('');
});

test('docker/metrics.md lists the metrics that a service has, each with its labels', () => {
  const page = read('../metrics.md');
  const listed = namedIn(page, /^- `([a-z_]+(?:\*|\{[a-z_,]+\})?)`: /gm);
  const groups = listed.flatMap((name) => (name.endsWith('*') ? name.slice(0, -1) : []));
  const present = [...labels]
    .filter(([name]) => !groups.some((group) => name.startsWith(group)))
    .map(([name, own]) => (own.length > 0 ? `${name}{${own.join(',')}}` : name));
  expect(listed.filter((name) => !name.endsWith('*')).sort()).toEqual(present.sort());
});

test('alerts, dashboard and first-hour.md use metrics and labels that a service has', () => {
  const exprs = rules.map(({ expr }) => expr);
  // Not the names of recordings, which have colons.
  const selectors = /(?<![:\w])((?:http|database|service|process|nodejs)_\w+)(?![:\w])(?:\{([^}]*)\})?/g;
  // What is given to grep is the beginning of names.
  for (const text of [...exprs, ...dashboardQueries, firstHour.replaceAll(/^.*grep.*$/gm, '')])
    for (const [selector, name, matchers = ''] of text.matchAll(selectors)) {
      const own = labels.get(name!) ?? labels.get(name!.replace(/_(bucket|sum|count)$/, ''));
      const known = [...(own ?? []), 'job', 'instance', 'le', 'part_of'];
      const unknown = namedIn(matchers, /(\w+)[=!]/g).filter((label) => !known.includes(label));
      expect([selector, own === undefined, unknown]).toEqual([selector, false, []]);
    }
  // Otherwise, an alert fires for the series of another team.
  for (const expr of exprs)
    for (const [, matchers] of expr.replaceAll(/\w+:[\w:]+/g, '').matchAll(/\w+\{([^}]*)\}/g))
      expect([expr, matchers]).toEqual([expr, expect.stringContaining('part_of="rest-services"')]);
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
  const db = openTestConnection<unknown>(database.url);
  await sql`create table note ()`.execute(db);
  const holder = await db.startTransaction().execute();
  await sql`lock table note`.execute(holder);
  const read = sql`select from note`.execute(db);
  // Migrations of other test files wait on this server, too.
  const blocked = sql`select from pg_stat_activity
    where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
  while ((await blocked.execute(db)).rows.length === 0);
  for (const query of queries) {
    const { rows } = await sql.raw<{ state: string }>(query).execute(db);
    expect([query, rows.map(({ state }) => state)]).toEqual([query, expect.arrayContaining(['idle in transaction'])]);
  }
  await holder.commit().execute();
  await read;
  await db.destroy();
});

test('promtool accepts the configuration, the rules, their tests, and the queries of the dashboard', () => {
  promtool('check', 'config', 'prometheus.yml');
  promtool('check', 'rules', 'rules.yml');
  promtool('test', 'rules', 'rules.test.yml');
  const exprs = dashboardQueries.map((expr) => expr.replaceAll('$__rate_interval', '1m'));
  const recordings = exprs.map((expr, index) => ({ record: `dashboard:${index}`, expr }));
  const file = JSON.stringify({ groups: [{ name: 'dashboard', rules: recordings }] });
  execFileSync('bash', ['-c', 'promtool check rules <(echo "$0")', file]);
});

test('the runbook of each alert is a section of first-hour.md', () => {
  const sections = namedIn(firstHour, /^## (.+)$/gm).map((title) => title.toLowerCase().replaceAll(' ', '-'));
  const runbooks = rules.flatMap(({ annotations }) => annotations?.runbook.split('/first-hour.md#')[1] ?? []);
  expect(runbooks).toHaveLength(rules.filter(({ alert }) => alert).length);
  expect(sections).toEqual(expect.arrayContaining(runbooks));
});
