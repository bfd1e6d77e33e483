import { describe, expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { openTestConnection, send, type Write } from '@rest-services/testing';
import { sql } from 'kysely';
import { insertNotes, notes } from '../test/process/notes-process.ts';

const create: Write = { method: 'POST', path: '/notes', body: { title: 'a' } };

/** Values of a scrape by name and labels, as they are written. */
async function scrape(url: string) {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  return new Map(
    lines
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))] as const;
      }),
  );
}

/** Scrapes until a value, which a check in the background finds out, is as expected. */
async function becomes(url: string, name: string, expected: number) {
  let value: number | undefined;
  while (value !== expected) value = (await scrape(url)).get(name);
  expect(value).toBe(expected);
}

describe('/metrics', () => {
  test('has the number of requests in each statement that requests share', async () => {
    const url = await notes.start().listening();
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await send(url, '/notes/1')).status));
    expect(statuses).toEqual(statuses.map(() => 404));
    const metrics = await scrape(url);
    expect(metrics.get('database_requests_per_statement_sum')).toBe(40);
    const count = metrics.get('database_requests_per_statement_count')!;
    expect(count).toBeLessThan(40);
    expect(metrics.get('database_requests_per_statement_bucket{le="64"}')).toBe(count);
    expect(metrics.get('database_requests_per_statement_bucket{le="+Inf"}')).toBe(count);
  });

  test('has the waits for a connection, those that failed included', async () => {
    const service = notes.start({ DATABASE_POOL_MAX: '1' });
    const url = await service.listening();
    expect((await send(url, create)).status).toBe(201);
    const before = await scrape(url);
    expect(before.get('database_pool_wait_seconds_bucket{le="+Inf"}')).toBeGreaterThan(0);
    expect(before.get('database_pool_max_connections')).toBe(1);
    const other = openTestConnection(notes.database.url);
    await other.transaction().execute(async (locking) => {
      await sql`lock table note in access exclusive mode`.execute(locking);
      const outcomes = await Promise.all(Array.from({ length: 6 }, (_, page) => send(url, `/notes?page=${page + 1}`)));
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([503]));
    });
    await other.destroy();
    const after = await scrape(url);
    const rise = (name: string) => after.get(name)! - before.get(name)!;
    expect(rise('database_pool_wait_seconds_sum')).toBeGreaterThan(1);
    expect(rise('http_requests_timed_out_total{reason="connection"}')).toBeGreaterThan(0);
    expect(rise('http_requests_timed_out_total{reason="statement"}')).toBeGreaterThan(0);
    expect(rise('http_requests_shed_total{reason="pool_queue"}')).toBe(0);
  });

  test('counts and logs requests refused because too many wait for a connection', async () => {
    const service = notes.start({ DATABASE_POOL_MAX: '1' });
    const url = await service.listening();
    const other = openTestConnection(notes.database.url);
    await other.transaction().execute(async (locking) => {
      await sql`lock table note in access exclusive mode`.execute(locking);
      // Different pages, because requests for the same one share a statement.
      await Promise.all(Array.from({ length: 150 }, (_, page) => send(url, `/notes?page=${page + 1}`)));
    });
    await other.destroy();
    expect((await scrape(url)).get('http_requests_shed_total{reason="pool_queue"}')).toBeGreaterThan(0);
    await service.logged(({ reason }) => reason === 'pool_queue');
    const lines = service.log.filter(({ msg }) => msg === 'request');
    // As the label of the metric, in the line of each 503.
    expect(lines.filter(({ status, reason }) => (status === 503) !== (reason !== undefined))).toEqual([]);
  });

  test('says how many rows a table has, which migrations it lacks, and whether it is ready', async () => {
    const database = await createTestDatabase();
    const service = notes.start({ DATABASE_URL: database.url, MIGRATE_ON_START: 'false' });
    const url = await service.listening();
    await becomes(url, 'service_ready{service="notes"}', 0);
    await becomes(url, 'database_migrations{state="applied"}', 0);
    const pending = (await scrape(url)).get('database_migrations{state="pending"}')!;
    expect(pending).toBeGreaterThan(0);
    expect((await notes.start({ DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
    await becomes(url, 'database_migrations{state="applied"}', pending);
    await becomes(url, 'service_ready{service="notes"}', 1);
    for (const event of [/^Not ready$/, /^Ready again$/]) await service.logged(event);
    await insertNotes(3, database.url);
    await becomes(url, 'database_table_rows{table="note"}', 3);
    service.child.kill('SIGKILL');
    await service.ended;
    await database.drop();
  });
});
