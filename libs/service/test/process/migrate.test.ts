import { expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { processesOf, withRole } from '@rest-services/testing';
import { sql } from 'kysely';
import { getJson, scrape } from '../http.ts';
import { notesMain } from '../notes/bundled.ts';
import { createNote, insertNotes, isNotSlow } from './notes-process.ts';

const notes = processesOf(notesMain(), createTestDatabase);

test('`node main.js migrate` logs each migration once, and then /readyz responds 200', async () => {
  const service = notes.start({ MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  const names = ['0001_note', '0002_row_counts', '0003_idempotency_keys'];
  expect(await getJson(`${url}/readyz`)).toEqual([503, { message: `migrations pending: ${names.join(', ')}` }]);
  await becomes(url, 'service_ready{service="notes"}', 0);
  await becomes(url, 'database_migrations{state="pending"}', names.length);
  // It is alive, so that no container restarts it.
  expect((await notes.start({ PORT: new URL(url).port }, 'health').ended).code).toBe(0);
  const job = notes.start({}, 'migrate');
  expect((await job.ended).code).toBe(0);
  expect(await getJson(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
  await becomes(url, 'service_ready{service="notes"}', 1);
  await becomes(url, 'database_migrations{state="applied"}', names.length);
  for (const event of [/^Not ready$/, /^Ready again$/]) await service.logged(event);
  const applied = job.log.filter(({ msg }) => msg === 'Migration applied');
  expect(applied).toMatchObject(names.map((migration) => ({ migration, level: 30, ms: expect.any(Number) })));
  await insertNotes(3, notes.db);
  await becomes(url, 'database_table_rows{table="note"}', 3);
});

/** Scrapes until a value, which a check in the background finds out, is as expected. */
async function becomes(url: string, name: string, expected: number) {
  while ((await scrape(url)).get(name) !== expected);
}

test('a migration that fails: exit code 1 and one line that names it, also of `migrate`', async () => {
  await sql`create table note ()`.execute(notes.db);
  for (const command of [[], ['migrate']]) {
    const job = notes.start({}, ...command);
    expect(await job.ended).toEqual({ code: 1, errors: '' });
    const err = expect.objectContaining({ migration: '0001_note', message: 'relation "note" already exists' });
    expect(job.log.filter(isNotSlow)).toEqual([expect.objectContaining({ msg: 'cannot migrate the database', err })]);
  }
});

test('two connections are enough to migrate, also while another process migrates', () =>
  withRole(notes.database, async (db, role, limitedUrl) => {
    await sql`alter role ${role} connection limit 2`.execute(db);
    await sql`alter default privileges grant all on tables to ${role}`.execute(db);
    await sql`grant create on schema public to ${role}`.execute(db);
    const inTheWay = await db.startTransaction().execute();
    await sql`create table note ()`.execute(inTheWay);
    const sent = async (query: string) => {
      const sessions = sql`select from pg_stat_activity where datname = current_database() and query like ${query}`;
      while ((await sessions.execute(db)).rows.length === 0);
    };
    const migrating = notes.start({}, 'migrate');
    await sent('create table "note"%');
    const waiting = notes.start({ DATABASE_URL: limitedUrl }, 'migrate');
    await sent('select pg_try_advisory_lock%');
    await inTheWay.rollback().execute();
    expect(await Promise.all([migrating.ended, waiting.ended])).toEqual(Array(2).fill({ code: 0, errors: '' }));
  }));

test('an older image starts and serves on a newer schema', async () => {
  expect((await notes.start({}, 'migrate').ended).code).toBe(0);
  await sql`insert into kysely_migration (name, timestamp) values ('9999_newer', '2100-01-01')`.execute(notes.db);
  await sql`alter table note add column newer text`.execute(notes.db);
  const url = await notes.start().listening();
  expect(await getJson(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
  await createNote(url);
  expect(await getJson(`${url}/notes`)).toEqual([200, [{ id: 1, title: 'a' }]]);
});
