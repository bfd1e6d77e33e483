import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { load, openTestConnection, send, unlike, withRole } from '@rest-services/testing';
import { sql } from 'kysely';
import { exchange } from '../http.ts';
import { untilBlocked } from '../until-blocked.ts';
import { createNote, notes } from './notes-process.ts';

test('a taken port: the process exits with 1 and one line that names the port', async () => {
  const other = createServer().listen(0, '127.0.0.1').unref();
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, errors } = await notes.start({ PORT: `${port}` }).ended;
  expect(code).toBe(1);
  expect(errors).toMatch(new RegExp(`^Port ${port} is taken on 127\\.0\\.0\\.1: [^\\n]*\\n$`));
});

test('a wrong PORT: exit code 1 and one line with its value and the allowed ones', async () => {
  const { code, errors } = await notes.start({ PORT: 'http' }).ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(/^PORT must be [^\n]+; it is "http"\n$/)]);
});

test('an unknown address in HOST: exit code 1 and one line that names it', async () => {
  const { code, errors } = await notes.start({ HOST: '203.0.113.1' }).ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(/^[^\n]*203\.0\.113\.1[^\n]*\n$/)]);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ family }) => family === 'IPv6'));

test('HOST by default: the service listens on all addresses of IPv4, and of IPv6 where there are any', async () => {
  const service = notes.start({ HOST: '' });
  const { port } = new URL(await service.listening());
  for (const address of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])]) {
    const { status } = await fetch(`http://${address}:${port}/notes/1?from=${address}`);
    expect([address, status]).toEqual([address, 404]);
    const { ip } = await service.logged(({ url }) => String(url).endsWith(address));
    expect(ip).toBe(address.replaceAll(/[[\]]/g, ''));
  }
});

test('KEEP_ALIVE_TIMEOUT_MS: an idle connection is closed after it, and told of a second less', async () => {
  const url = await notes.start({ KEEP_ALIVE_TIMEOUT_MS: '2000' }).listening();
  const startedAt = performance.now();
  expect(await exchange(url, 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n')).toMatch(/^keep-alive: timeout=1\r$/im);
  expect(performance.now() - startedAt).toBeGreaterThan(1_900);
});

test('HOST localhost: only the service listens on the addresses of localhost', async () => {
  const service = notes.start({ HOST: 'localhost' });
  const { port } = new URL(await service.listening());
  const answers = ['127.0.0.1', '::1'].map((address) => {
    const socket = connect(Number(port), address);
    socket.write('nonsense\r\n\r\n');
    return text(socket).catch((error: unknown) => (error as NodeJS.ErrnoException).code);
  });
  for (const answer of await Promise.all(answers)) {
    expect(answer).toMatch(
      /^(ECONNREFUSED|EADDRNOTAVAIL|HTTP\/1\.1 400 .*{"message":"The request is not valid HTTP"})$/s,
    );
  }
});

test('DATABASE_POOL_MAX bounds the connections of the pool', async () => {
  const service = notes.start({ DATABASE_POOL_MAX: '3' });
  const traffic = load(await service.listening(), ['/notes', '/notes/summary'], 32);
  await traffic.until(({ status }) => status === 200, 500);
  const db = openTestConnection(notes.database.url);
  const sessions = sql`select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  let count = 0;
  // Two connections may do for a while, because requests share statements.
  while (count < 3) count = (await sessions.execute(db)).rows.length;
  expect(count).toBe(3);
  await db.destroy();
  // On a busy machine, some wait for too long.
  expect(unlike(await traffic.stop(), 200, 503)).toEqual([]);
});

test('DATABASE_POOL_MAX: /readyz responds 200 while all connections wait for locks', async () => {
  const url = await notes.start({ DATABASE_POOL_MAX: '1' }).listening();
  const { id } = await createNote(url);
  const db = openTestConnection(notes.database.url);
  const readyWhileBlocked = async () => {
    const { first, change } = await db.transaction().execute(async (locking) => {
      await sql`select from note where id = ${id} for update`.execute(locking);
      const change = send(url, { method: 'PUT', path: `/notes/${id}`, body: { title: 'b' } });
      await untilBlocked(db);
      return { first: await Promise.race([change, send(url, '/readyz')]), change };
    });
    return first.status === 200 && (await change).status === 200;
  };
  // On a busy machine, the change may reach its time limit first.
  while (!(await readyWhileBlocked()));
  await db.destroy();
});

test('DATABASE_MIGRATION_URL_FILE names a file with the URL for migrations', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secret-'));
  await writeFile(join(folder, 'url'), `${notes.database.url}\n`);
  const nowhere = `postgres://notes:secret@127.0.0.1:${await freePort()}/notes`;
  const environment = { DATABASE_URL: nowhere, DATABASE_MIGRATION_URL_FILE: join(folder, 'url') };
  expect(await notes.start(environment, 'migrate').ended).toEqual({ code: 0, errors: '' });
  const url = await notes.start({ MIGRATE_ON_START: 'false' }).listening();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await rm(folder, { recursive: true });
});

test('a password that changes in DATABASE_URL_FILE is taken by new connections', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secret-'));
  await withRole(notes.database, async (db, role, url) => {
    expect((await notes.start({}, 'migrate').ended).code).toBe(0);
    await sql`grant select on all tables in schema public to ${role}`.execute(db);
    await writeFile(join(folder, 'url'), url);
    const service = notes.start({ DATABASE_URL: '', DATABASE_URL_FILE: join(folder, 'url') });
    const notesUrl = `${await service.listening()}/notes`;
    expect((await fetch(notesUrl)).status).toBe(200);

    await sql`alter role ${role} password 'changed'`.execute(db);
    await writeFile(join(folder, 'url'), url.replace(':secret@', ':changed@'));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${new URL(url).username}`.execute(
      db,
    );
    await service.logged(/^database connection lost$/);
    expect((await fetch(notesUrl)).status).toBe(200);
    service.child.kill('SIGKILL');
    await service.ended;
  });
  await rm(folder, { recursive: true });
});
