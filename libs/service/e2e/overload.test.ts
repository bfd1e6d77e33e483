import { spawn } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { closedAtEnd, load, send, type Write } from '@rest-services/testing';
import { sql } from 'kysely';
import { getJson, scrape } from '../test/http.ts';
import { createNote, insertNotes, notes } from '../test/process/notes-process.ts';
import { expectContract } from './expect-contract.ts';

const CLIENTS = 300;
const BUSY_LOOPS = 2;

const ready = [200, { message: 'ready' }];

/** Locks a table against readers while `act` runs. */
const locked = <Result>(table: string, act: () => Promise<Result>) =>
  notes.db.transaction().execute(async (locking) => {
    await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(locking);
    return act();
  });

test('More clients than a service can serve get a success or 503 within 3 s', async () => {
  const service = notes.start({ DATABASE_POOL_MAX: '2' });
  const url = await service.listening();
  await insertNotes(2);
  expect(await getJson(`${url}/readyz`)).toEqual(ready);
  const loops = Array.from({ length: BUSY_LOOPS }, () => spawn(process.execPath, ['-e', 'for(;;);']));
  const stopLoops = closedAtEnd(() => loops.forEach((loop) => loop.kill('SIGKILL')));
  const requests: (string | Write)[] = [
    ...['/notes/1', '/notes', '/notes?page=2&limit=3', '/notes/summary'],
    { method: 'POST', path: '/notes', body: { title: 'a' } },
    { method: 'PUT', path: '/notes/1', body: { title: 'b' } },
    { method: 'PUT', path: '/notes/2', body: { title: 'c' } },
    { method: 'PUT', path: '/notes/1', body: { title: 'd' } },
  ];
  const traffic = load(url, requests, CLIENTS);
  await traffic.until(({ status }) => status !== 503, 3_000);
  // One refusal per client: the last clients have waited for the lock since their arrival.
  await locked('note', () => traffic.until(({ status }) => status === 503, CLIENTS));
  await traffic.until(({ status }) => status === 200, 100);
  // A busy service should still get traffic, and /readyz waits for no lock.
  await locked('kysely_migration', async () => {
    for (let count = 0; count < 5; count += 1) expect(await getJson(`${url}/readyz`)).toEqual(ready);
  });
  expectContract(service, await traffic.stop());
  stopLoops();
});

test('Requests that wait for too long, or behind a hundred others, get 503 and are counted by reason', async () => {
  // Another URL for migrations changes no timeout of requests.
  const service = notes.start({ DATABASE_POOL_MAX: '1', DATABASE_MIGRATION_URL: notes.database.url });
  const url = await service.listening();
  await createNote(url);
  const before = await scrape(url);
  expect(before.get('database_pool_wait_seconds_bucket{le="+Inf"}')).toBeGreaterThan(0);
  expect(before.get('database_pool_max_connections')).toBe(1);
  // Different pages, because requests for the same one share a statement.
  const pages = Array.from({ length: 150 }, (_, page) => `/notes?page=${page + 1}`);
  const outcomes = await locked('note', () => Promise.all(pages.map((page) => send(url, page))));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([503]));
  expectContract(service, outcomes);
  const after = await scrape(url);
  const rise = (name: string) => after.get(name)! - before.get(name)!;
  expect(rise('database_pool_wait_seconds_sum')).toBeGreaterThan(1);
  const reasons = [
    'shed_total{reason="pool_queue"}',
    ...['connection', 'statement'].map((name) => `timed_out_total{reason="${name}"}`),
  ];
  const rises = reasons.map((each) => rise(`http_requests_${each}`));
  for (const each of rises) expect(each).toBeGreaterThan(0);
  expect(rises[0]).toBeLessThan(50);
  // Where a busy machine reads the requests late, a second one gets the connection in time.
  expect(rises.reduce((sum, each) => sum + each)).toBe(pages.length);
  const lines = service.log.filter(({ msg }) => msg === 'request');
  // As the label of the metric, in the line of each 503.
  expect(lines.filter(({ status, reason }) => (status === 503) !== (reason !== undefined))).toEqual([]);
  expect(lines.map(({ reason }) => reason)).toContain('pool_queue');
});
