import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createTestDatabase, freePort } from '@rest-services/local-postgres';
import { load, openTestConnection, send, sendJson, unlike, withRole } from '@rest-services/testing';
import { sql, type Kysely } from 'kysely';
import { getJson, scrape } from '../http.ts';
import { createNote, insertNotes, notes, startListening } from './notes-process.ts';

const title = { title: 'a' };

/** The database of the test at a port where nothing listens. */
const nowhere = async () => Object.assign(new URL(notes.database.url), { port: `${await freePort()}` }).href;

test('With DATABASE_READ_URL, GETs read there, and conditional writes compare with the primary', async () => {
  // As a standby that is late by a note.
  const standby = await createTestDatabase();
  expect((await notes.start({ DATABASE_URL: standby.url }, 'migrate').ended).code).toBe(0);
  await insertNotes(1, openTestConnection(standby.url));
  await insertNotes(2);
  const { url, ...service } = await startListening({ DATABASE_READ_URL: standby.url });
  expect(await getJson(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
  expect((await getJson(`${url}/notes`))[1]).toHaveLength(1);
  const read = async () => (await fetch(`${url}/notes/1`)).headers.get('etag')!;
  const ifMatch = { 'if-match': await read() };
  expect((await sendJson(url, 'PUT', '/notes/1', title, ifMatch)).status).toBe(200);
  expect(await read()).toBe(ifMatch['if-match']);
  expect((await sendJson(url, 'PUT', '/notes/1', title, ifMatch)).status).toBe(412);
  service.child.kill('SIGKILL');
  await service.ended;
  await standby.drop();
});

test('/readyz is 503 while nothing responds at DATABASE_READ_URL, also beside writes that succeed', async () => {
  const url = await notes.start({ DATABASE_READ_URL: await nowhere() }).listening();
  await createNote(url);
  expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'database unreachable' }]);
});

test('a password that changes in DATABASE_URL_FILE is taken by new connections, but not by those of DATABASE_READ_URL', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secret-'));
  const DATABASE_URL_FILE = join(folder, 'url');
  await withRole(notes.database, async (db, role, url) => {
    await sql`grant all on all tables in schema public to ${role}`.execute(db);
    await writeFile(DATABASE_URL_FILE, url);
    const environment = { DATABASE_URL: '', DATABASE_URL_FILE, DATABASE_READ_URL: notes.database.url };
    const service = notes.start(environment);
    const notesUrl = await service.listening();
    await createNote(notesUrl);
    await sql`alter role ${role} password 'changed'`.execute(db);
    await writeFile(DATABASE_URL_FILE, url.replace(':secret@', ':changed@'));
    const { username } = new URL(url);
    const ended = sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${username}`;
    const { length } = (await ended.execute(db)).rows;
    await service.logged(() => service.log.filter(({ msg }) => msg === 'database connection lost').length >= length);
    expect((await scrape(notesUrl)).get('database_connections_lost_total')).toBeGreaterThan(0);
    await createNote(notesUrl);
    expect((await getJson(`${notesUrl}/notes`))[1]).toHaveLength(2);
    service.child.kill('SIGKILL');
    await service.ended;
  });
  await rm(folder, { recursive: true });
});

test("Nothing of libpq's environment changes a connection, which has the name of the service", async () => {
  const environment = {
    PGSSLMODE: 'require',
    PGAPPNAME: 'other',
    PGOPTIONS: '-c search_path=nowhere',
    PGCLIENTENCODING: 'LATIN1',
  };
  const url = await notes.start({ ...environment, NODE_PG_FORCE_NATIVE: '1' }).listening();
  expect((await sendJson(url, 'POST', '/notes', { title: '€, which LATIN1 lacks' })).status).toBe(201);
  const { rows } = await sql`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(notes.db);
  expect(rows).toEqual([{ name: 'notes' }]);
});

test('While the database is down, /livez is 200, /readyz 503, and requests are 500 with a code', async () => {
  const url = await notes.start({ DATABASE_URL: await nowhere(), MIGRATE_ON_START: 'false' }).listening();
  expect(await getJson(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
  expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'database unreachable' }]);
  const refused = { message: 'Database error', error: { code: 'ECONNREFUSED' } };
  expect(await getJson(`${url}/notes/1`)).toEqual([500, refused]);
});

test('A server that refuses further connections: requests and /readyz use those that there are', async () => {
  await withRole(notes.database, async (db, role, DATABASE_URL) => {
    await sql`grant all on all tables in schema public to ${role}`.execute(db);
    await sql`alter role ${role} connection limit 1`.execute(db);
    const { url, ...service } = await startListening({ DATABASE_URL, MIGRATE_ON_START: 'false' });
    await createNote(url);
    expect(await getJson(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
    const traffic = load(url, ['/notes', '/notes/1?a=b', { method: 'POST', path: '/notes', body: title }], 32);
    expect(await service.logged(/^database connection refused$/)).toMatchObject({ err: { code: '53300' } });
    await traffic.until(({ status }) => status === 201, 100);
    // On a busy machine, some requests wait for too long.
    expect(unlike(await traffic.stop(), 200, 201, 404, 503)).toEqual([]);
    service.child.kill('SIGKILL');
    await service.ended;
  });
});

test('A request that waits for one of DATABASE_POOL_MAX connections for too long gets 503 with Retry-After', async () => {
  const { url, ...service } = await startListening({ DATABASE_POOL_MAX: '1' });
  const outcomes = await notes.db.transaction().execute(async (locking) => {
    await sql`lock table note`.execute(locking);
    return Promise.all(['/notes?page=1', '/notes?page=2'].map((path) => send(url, path)));
  });
  for (const { status, retryAfter } of outcomes) expect([status, retryAfter]).toEqual([503, '1']);
  await service.logged(({ reason }) => reason === 'connection');
});

test('A database that takes no writes: GETs are 200, writes 500 with 25006, /readyz 503, until it takes them', async () => {
  const { pathname } = new URL(notes.database.url);
  const database = sql.id(pathname.slice(1));
  await sql`alter database ${database} set default_transaction_read_only = on`.execute(notes.db);
  const { url, ...service } = await startListening();
  const isReadOnly = async () => (await scrape(url)).get('database_read_only');
  const reason = 'database is read-only';
  expect((await fetch(`${url}/notes`)).status).toBe(200);
  const create = () => sendJson(url, 'POST', '/notes', title);
  expect(await create()).toMatchObject({ status: 500, body: { error: { code: '25006' } } });
  expect(await getJson(`${url}/readyz`)).toEqual([503, { message: reason }]);
  expect(await isReadOnly()).toBe(1);
  expect(await service.logged(/^Not ready$/)).toMatchObject({ reason, err: { code: '25006' } });

  await sql`alter database ${database} set default_transaction_read_only = off`.execute(notes.db);
  // The check that the scrape has begun may still run.
  while ((await getJson(`${url}/readyz`))[0] === 503);
  // A session that began before stays read-only, until its first write closes it.
  let created = await create();
  for (let session = 1; session < 10 && created.status === 500; session += 1) created = await create();
  expect([created.status, await isReadOnly()]).toEqual([201, 0]);
  expect(await service.logged(/^Ready again$/)).toMatchObject({ reason, ms: expect.any(Number) });
});

const metric = async (url: string, name: string) => (await scrape(url)).get(`database_${name}`);
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
    const { url, ...service } = await startListening({ DATABASE_URL, MIGRATE_ON_START: 'false' });
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
  await notes.db.connection().execute(async (loading: Kysely<unknown>) => {
    await sql`set session_replication_role = replica`.execute(loading);
    await sql`insert into note (title) select 'a' from generate_series(1, 1000)`.execute(loading);
  });
  const url = await notes.start().listening();
  expect(await summaryOf(url)).toEqual({ total: 0 });
  const recounting = notes.start({}, 'recount');
  expect(await recounting.ended).toEqual({ code: 0, errors: '' });
  expect(recounting.log).toMatchObject([{ table: 'note', ms: expect.any(Number), msg: 'Rows counted' }]);
  expect(await summaryOf(url)).toEqual({ total: 1_000 });
});
