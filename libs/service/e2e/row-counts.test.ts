import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@rest-services/local-postgres';
import { openTestConnection, startProcess, withRole } from '@rest-services/testing';
import { notesMain } from '../test/notes/bundled.ts';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { NotesDatabase } from '../test/notes/database.ts';

const main = notesMain();

let database: TestDatabase;
let db: Kysely<NotesDatabase>;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openTestConnection(database.url);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const start = (environment: NodeJS.ProcessEnv = {}, ...args: string[]) =>
  startProcess(main, { DATABASE_URL: database.url, ...environment }, ...args);

async function stop({ child, ended }: ReturnType<typeof start>) {
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, errors: '' });
}

const summaryOf = async (url: string) => (await fetch(`${url}/notes/summary`)).json();

const metric = async (url: string, name: string) =>
  new RegExp(`^database_row_counts_${name}\\{table="note"\\} (\\S+)$`, 'm').exec(
    await (await fetch(`${url}/metrics`)).text(),
  )?.[1];
const inexactBlocks = (url: string) => metric(url, 'inexact_blocks');

test('folds changes of row counts with the rights to change rows', async () => {
  expect((await start({}, 'migrate').ended).code).toBe(0);
  await withRole(database, async (_, role, DATABASE_URL) => {
    await sql`grant select, insert, update, delete on all tables in schema public to ${role}`.execute(db);
    const service = start({ DATABASE_URL, MIGRATE_ON_START: 'false' });
    const url = await service.listening();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
    for (let turn = 0; turn < 5; turn += 1) expect((await fetch(`${url}/notes`, init)).status).toBe(201);
    const isFolded = async () => (await sql`select from note_count_change`.execute(db)).rows.length === 0;
    while (!(await isFolded())) expect(await summaryOf(url)).toEqual({ total: 5 });
    expect(await summaryOf(url)).toEqual({ total: 5 });
    expect(Date.now() / 1_000 - Number(await metric(url, 'folded_timestamp_seconds'))).toBeLessThan(60);
    await stop(service);
  });
});

test('logs and measures that a role may not fold row counts', async () => {
  await withRole(database, async (_, role, DATABASE_URL) => {
    await sql`grant select, insert, update on all tables in schema public to ${role}`.execute(db);
    const service = start({ DATABASE_URL, MIGRATE_ON_START: 'false' });
    const url = await service.listening();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
    expect((await fetch(`${url}/notes`, init)).status).toBe(201);
    const line = await service.logged(/^Row counts are not folded/);
    expect(line).toMatchObject({ level: 50, table: 'note', err: { code: '42501' } });
    await stop(service);

    const restarted = start({ DATABASE_URL, MIGRATE_ON_START: 'false' });
    const again = await restarted.listening();
    while ((await metric(again, 'open_changes')) !== '1');
    expect(await metric(again, 'folded_timestamp_seconds')).toBeUndefined();
    await stop(restarted);
  });
});

test('reports notes loaded without triggers in log and metrics, and recount counts them', async () => {
  await db.connection().execute(async (loading) => {
    await sql`set session_replication_role = replica`.execute(loading);
    await sql`insert into note (title) select 'a' from generate_series(1, 1000)`.execute(loading);
    await sql`set session_replication_role = default`.execute(loading);
  });
  const service = start({ MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  expect(await service.logged(/^Row counts differ/)).toMatchObject({
    level: 50,
    table: 'note',
    firstId: 0,
    lastId: 16_383,
    counted: 6,
    present: 1_006,
  });
  expect(await inexactBlocks(url)).toBe('1');

  const recounting = start({}, 'recount');
  expect(await recounting.ended).toEqual({ code: 0, errors: '' });
  expect(recounting.log).toEqual([
    expect.objectContaining({ table: 'note', ms: expect.any(Number), msg: 'Rows counted' }),
  ]);
  expect(await summaryOf(url)).toEqual({ total: 1_006 });
  await stop(service);

  const again = start();
  expect(await inexactBlocks(await again.listening())).toBe('0');
  await stop(again);
  expect(again.log).not.toContainEqual(expect.objectContaining({ level: 50 }));
});

test('a block that differed and has vanished is no longer reported', async () => {
  const service = start({ MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  const farAway = 2 ** 40;
  const withoutTriggers = (statement: RawBuilder<unknown>) =>
    db.connection().execute(async (loading) => {
      await sql`set session_replication_role = replica`.execute(loading);
      await statement.execute(loading);
      await sql`set session_replication_role = default`.execute(loading);
    });
  await withoutTriggers(sql`insert into note (id, title) overriding system value values (${farAway}, 'a')`);
  await service.logged(({ msg, firstId }) => msg.startsWith('Row counts differ') && Number(firstId) > 1_000_000);
  expect(await inexactBlocks(url)).toBe('1');
  await withoutTriggers(sql`delete from note where id = ${farAway}`);
  while ((await inexactBlocks(url)) !== '0') await sql`select pg_sleep(0.2)`.execute(db);
  await stop(service);
});
