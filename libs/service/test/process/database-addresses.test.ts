import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort } from '@rest-services/local-postgres';
import { load, openTestConnection, send, sendJson, withRole } from '@rest-services/testing';
import { sql } from 'kysely';
import { getJson } from '../http.ts';
import type { NotesDatabase } from '../notes/database.ts';
import { insertNotes, notes } from './notes-process.ts';

const title = { title: 'a' };

describe('With DATABASE_READ_URL', () => {
  test('GETs read there, and conditional writes compare with the primary', async () => {
    // As a standby that is late by a note.
    const standby = await createTestDatabase();
    expect((await notes.start({ DATABASE_URL: standby.url }, 'migrate').ended).code).toBe(0);
    await insertNotes(1, standby.url);
    await insertNotes(2);
    const service = notes.start({ DATABASE_READ_URL: standby.url });
    const url = await service.listening();
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

  test('GETs take its own password, not the one in DATABASE_URL_FILE', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'secret-'));
    const file = join(folder, 'url');
    await writeFile(file, notes.database.url);
    await withRole(notes.database, async (db, role, DATABASE_READ_URL) => {
      expect((await notes.start({}, 'migrate').ended).code).toBe(0);
      await sql`grant select on all tables in schema public to ${role}`.execute(db);
      const service = notes.start({ DATABASE_URL: '', DATABASE_URL_FILE: file, DATABASE_READ_URL });
      expect(await getJson(`${await service.listening()}/notes/all`)).toEqual([200, []]);
      service.child.kill('SIGKILL');
      await service.ended;
    });
    await rm(folder, { recursive: true });
  });

  test('/readyz is 503 while nothing responds there, also beside writes that succeed', async () => {
    const nowhere = Object.assign(new URL(notes.database.url), { port: `${await freePort()}` }).href;
    const url = await notes.start({ DATABASE_READ_URL: nowhere }).listening();
    expect((await sendJson(url, 'POST', '/notes', title)).status).toBe(201);
    expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'database unreachable' }]);
  });
});

test("Nothing of libpq's environment changes a connection", async () => {
  const environment = {
    PGSSLMODE: 'require',
    PGAPPNAME: 'other',
    PGOPTIONS: '-c search_path=nowhere',
    PGCLIENTENCODING: 'LATIN1',
  };
  const url = await notes.start({ ...environment, NODE_PG_FORCE_NATIVE: '1' }).listening();
  expect((await sendJson(url, 'POST', '/notes', { title: 'ü' })).status).toBe(201);
  const db = openTestConnection<NotesDatabase>(notes.database.url);
  expect(await db.selectFrom('note').select('title').execute()).toEqual([{ title: 'ü' }]);
  const { rows } = await sql`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  await db.destroy();
  expect(rows).toEqual([{ name: 'notes' }]);
});

test('While the database is down, /livez is 200, /readyz 503, and requests are 500 with a code', async () => {
  const DATABASE_URL = Object.assign(new URL(notes.database.url), { port: `${await freePort()}` }).href;
  const url = await notes.start({ DATABASE_URL, MIGRATE_ON_START: 'false' }).listening();
  expect(await getJson(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
  expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'database unreachable' }]);
  const refused = { message: 'Database error', error: { code: 'ECONNREFUSED' } };
  expect(await getJson(`${url}/notes/1`)).toEqual([500, refused]);
});

test('A server that refuses further connections: requests and /readyz use those that there are', async () => {
  await withRole(notes.database, async (db, role, DATABASE_URL) => {
    await sql`grant all on all tables in schema public to ${role}`.execute(db);
    await sql`alter role ${role} connection limit 2`.execute(db);
    const service = notes.start({ DATABASE_URL });
    const url = await service.listening();
    const traffic = load(url, ['/notes', '/notes/1?a=b', { method: 'POST', path: '/notes', body: title }], 32);
    await traffic.until(({ status }) => status === 201, 100);
    // On a busy machine, some requests and probes wait for too long.
    while ((await getJson(`${url}/readyz`))[0] !== 200);
    const failed = (await traffic.stop()).filter(({ status }) => ![200, 201, 404, 503].includes(status!));
    expect(failed).toEqual([]);
    expect(await service.logged(/^database connection refused$/)).toMatchObject({ err: { code: '53300' } });
    await sql`alter role ${role} connection limit 20`.execute(db);
    service.child.kill('SIGKILL');
    await service.ended;
  });
});

test('A request that waits for a connection for too long gets 503 with Retry-After', async () => {
  const service = notes.start({ DATABASE_POOL_MAX: '1' });
  const url = await service.listening();
  const db = openTestConnection(notes.database.url);
  const outcomes = await db.transaction().execute(async (locking) => {
    await sql`lock table note`.execute(locking);
    return Promise.all(['/notes?page=1', '/notes?page=2'].map((path) => send(url, path)));
  });
  await db.destroy();
  for (const { status, retryAfter } of outcomes) expect([status, retryAfter]).toEqual([503, '1']);
  await service.logged(({ reason }) => reason === 'connection');
});

test('A database that takes no writes: GETs are 200, writes 500 with 25006, /readyz 503, until it takes them', async () => {
  const db = openTestConnection(notes.database.url);
  const setReadOnly = (value: string) =>
    sql`alter database ${sql.id(new URL(notes.database.url).pathname.slice(1))}
      set default_transaction_read_only = ${sql.raw(value)}`.execute(db);
  await setReadOnly('on');
  const service = notes.start();
  const url = await service.listening();
  expect((await fetch(`${url}/notes`)).status).toBe(200);
  expect((await sendJson(url, 'POST', '/notes', title)).body).toMatchObject({ error: { code: '25006' } });
  expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'database is read-only' }]);
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  expect(await metrics()).toContain('\ndatabase_read_only 1\n');
  const why = { reason: 'database is read-only', err: { code: '25006' } };
  expect(await service.logged(/^Not ready$/)).toMatchObject(why);

  await setReadOnly('off');
  await db.destroy();
  // The check that the scrape has begun may still run.
  while ((await getJson(`${url}/readyz`))[0] === 503);
  // A session that began before stays read-only, until its first write closes it.
  let created = await sendJson(url, 'POST', '/notes', title);
  for (let session = 1; session < 10 && created.status === 500; session += 1)
    created = await sendJson(url, 'POST', '/notes', title);
  expect(created.status).toBe(201);
  expect(await metrics()).toContain('\ndatabase_read_only 0\n');
  expect(await service.logged(/^Ready again$/)).toMatchObject({
    reason: 'database is read-only',
    ms: expect.any(Number),
  });
});
