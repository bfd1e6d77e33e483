import { expect, test } from '@jest/globals';
import { openTestConnection, sendJson, withRole } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import { createNote, notes } from './notes-process.ts';

async function metric(url: string, name: string) {
  const response = await fetch(`${url}/metrics`);
  const line = (await response.text()).split('\n').find((each) => each.startsWith(`database_${name} `));
  return line === undefined ? undefined : Number(line.split(' ')[1]);
}

const openChanges = 'row_counts_open_changes{table="note"}';
const foldedAt = 'row_counts_folded_timestamp_seconds{table="note"}';
const summaryOf = async (url: string) => (await sendJson(url, 'GET', '/notes/summary')).body;

test('Changes of row counts are folded with the rights to change rows', () =>
  withRole(notes.database, async (db, role, DATABASE_URL) => {
    await sql`grant select, insert, update, delete on all tables in schema public to ${role}`.execute(db);
    const url = await notes.start({ DATABASE_URL, MIGRATE_ON_START: 'false' }).listening();
    for (let turn = 0; turn < 5; turn += 1) await createNote(url);
    const isFolded = async () => (await sql`select from note_count_change`.execute(db)).rows.length === 0;
    while (!(await isFolded())) expect(await summaryOf(url)).toEqual({ total: 5 });
    expect(await summaryOf(url)).toEqual({ total: 5 });
    let at: number | undefined;
    while (at === undefined) at = await metric(url, foldedAt);
    expect(Date.now() / 1_000 - at).toBeLessThan(600);
  }));

test('A fold and a deletion of expired keys that fail are logged and counted', () =>
  withRole(notes.database, async (db, role, DATABASE_URL) => {
    await sql`insert into note (title) values ('a')`.execute(db);
    await sql`grant select, insert, update on all tables in schema public to ${role}`.execute(db);
    const service = notes.start({ DATABASE_URL, MIGRATE_ON_START: 'false' });
    const url = await service.listening();
    for (let key = 0; key < 64; key += 1)
      expect((await sendJson(url, 'POST', '/notes', { title: 'a' }, { 'idempotency-key': `${key}` })).status).toBe(201);
    for (const task of ['fold_row_counts', 'delete_expired_keys']) {
      const line = await service.logged((each) => each.task === task);
      expect(line).toMatchObject({ level: 50, msg: 'Background task failed', err: { code: '42501' } });
      expect(await metric(url, `tasks_failed_total{task="${task}"}`)).toBeGreaterThan(0);
    }
    expect(await metric(url, openChanges)).toBeGreaterThan(0);
    expect(await metric(url, foldedAt)).toBeUndefined();
  }));

test('`node main.js recount` counts notes that were loaded without triggers', async () => {
  const db = openTestConnection(notes.database.url);
  await db.connection().execute(async (loading: Kysely<unknown>) => {
    await sql`set session_replication_role = replica`.execute(loading);
    await sql`insert into note (title) select 'a' from generate_series(1, 1000)`.execute(loading);
  });
  await db.destroy();
  const url = await notes.start().listening();
  expect(await summaryOf(url)).toEqual({ total: 0 });
  const recounting = notes.start({}, 'recount');
  expect(await recounting.ended).toEqual({ code: 0, errors: '' });
  expect(recounting.log).toEqual([
    expect.objectContaining({ table: 'note', ms: expect.any(Number), msg: 'Rows counted' }),
  ]);
  expect(await summaryOf(url)).toEqual({ total: 1_000 });
});
