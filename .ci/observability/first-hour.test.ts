import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { processesOf } from '@rest-services/testing';
import pg from 'pg';
import { labelsByName, scrape } from './scrape.ts';

const workspace = join(import.meta.dirname, '../..');
const main = join(workspace, 'apps/items/dist/main.js');
const page = readFileSync(join(workspace, 'docker/observability/first-hour.md'), 'utf8');
const processes = processesOf(main);

/** Matches of the first group, each once. */
const namedIn = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))];

test('first-hour.md names metrics, labels and reasons that a running service has', async () => {
  const metrics = await scrape(await processes.start().listening());
  const present = labelsByName(metrics);
  // As they stand in output, or in the text.
  const series = namedIn(page, /((?:http|database|service|process|nodejs)_[a-z0-9_]+(?:\{[^}]*\})?)(?= [\d.]+$|`)/gm);
  expect(series.length).toBeGreaterThan(10);
  for (const each of series) {
    const [name] = each.split('{');
    const labels = present.get(name!) ?? present.get(name!.replace(/_(bucket|sum|count)$/, ''));
    expect([each, labels !== undefined]).toEqual([each, true]);
    const unknown = namedIn(each, /(\w+)="/g).filter((label) => label !== 'le' && !labels!.has(label));
    expect([each, unknown]).toEqual([each, []]);
  }
  const reasons = namedIn(page, /"reason":"([a-z_]+)"/g);
  expect(reasons.length).toBeGreaterThan(3);
  expect(reasons.filter((reason) => !metrics.includes(`{reason="${reason}"}`))).toEqual([]);
});

test('first-hour.md shows log messages that a service has', () => {
  // esbuild breaks long lines, within strings as well.
  const bundle = readFileSync(main, 'utf8').replaceAll('\\\n', '');
  const messages = namedIn(page, /"msg":"([^"]+)"\}/g);
  expect(messages.length).toBeGreaterThan(10);
  expect(messages.filter((message) => !bundle.includes(message))).toEqual([]);
});

test('the table of first-hour.md leads to each section, in order', () => {
  const [table] = page.split('\n## ');
  const sections = namedIn(page, /^## (.+)$/gm).map((heading) => `#${heading.toLowerCase().replaceAll(' ', '-')}`);
  expect(namedIn(table!, /\]\((#[^)]+)\)/g)).toEqual(sections);
});

test('the queries for a session that waits show the one that blocks it, idle in transaction', async () => {
  const queries = Array.from(page.matchAll(/```sql\n(select (?:pid|waiting).*?)```/gs), ([, query]) => query!);
  expect(queries).toHaveLength(2);
  const database = await createTestDatabase();
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
  await database.drop();
});
