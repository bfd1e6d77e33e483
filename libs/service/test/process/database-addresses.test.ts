import { describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort } from '@rest-services/local-postgres';
import { openTestConnection, sendJson } from '@rest-services/testing';
import { sql } from 'kysely';
import { getJson } from '../http.ts';
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

  test('/readyz is 503 while nothing responds there, also beside writes that succeed', async () => {
    const nowhere = Object.assign(new URL(notes.database.url), { port: `${await freePort()}` }).href;
    const url = await notes.start({ DATABASE_READ_URL: nowhere }).listening();
    expect((await sendJson(url, 'POST', '/notes', title)).status).toBe(201);
    expect(await getJson(`${url}/readyz`)).toEqual([503, { message: 'database unreachable' }]);
  });
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
  expect(await getJson(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
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
