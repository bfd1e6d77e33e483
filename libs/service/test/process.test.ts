import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, type TestDatabase } from '@rest-services/local-postgres';
import { load, openTestConnection, startProcess, withRole, type LogLine } from '@rest-services/testing';
import { notesMain } from './notes/bundled.ts';
import { sql } from 'kysely';
import { selfSigned, startSelfSigned } from './self-signed.ts';

// The service as it runs in production: a process of its own, stopped by signals.

const main = notesMain();
const processes: ReturnType<typeof startProcess>[] = [];

function startNotes(environment: NodeJS.ProcessEnv, ...args: string[]) {
  const service = startProcess(main, environment, ...args);
  processes.push(service);
  return service;
}

afterEach(async () => {
  const started = processes.splice(0);
  started.forEach(({ child }) => child.kill('SIGKILL'));
  await Promise.all(started.map(({ ended }) => ended));
});

async function insertNotes(count: number) {
  const db = openTestConnection(database.url);
  await sql`insert into note (title) select 'Note ' || n from generate_series(1, ${count}) n`.execute(db);
  await db.destroy();
}

async function createNote(url: string) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"a"}' };
  return (await (await fetch(`${url}/notes`, init)).json()) as { id: number };
}

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s under load fails no request that had been accepted, and ends with code 0',
  async (signal) => {
    const service = startNotes({ DATABASE_URL: database.url });
    const url = await service.listening();
    await insertNotes(1);
    const traffic = load(url, ['/notes/1', '/notes', '/notes/summary'], 32);
    await traffic.until(({ status }) => status === 200, 500);

    service.child.kill(signal);
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    const outcomes = await traffic.refused();
    const failed = outcomes.filter(
      ({ status, failure, isReused }) => status !== 200 && (failure !== 'ECONNREFUSED' || isReused),
    );
    // A connection that the kernel had taken, but not yet the process, is reset when the port closes.
    expect(failed.filter(({ failure, isReused }) => failure !== 'ECONNRESET' || isReused)).toEqual([]);
  },
);

test('SIGTERM waits for a request that is under way', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const url = await service.listening();
  await insertNotes(1);

  const traffic = load(url, ['/notes/1'], 1);
  await traffic.until(({ status }) => status === 200, 3);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  await traffic.stop();
  expect((await service.ended).code).toBe(0);
});

test('SIGTERM: the answer to a request that is under way says that its connection is closed', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const url = await service.listening();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  // What follows the first answer has been taken when it comes.
  const head = 'POST /notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n';
  socket.write(`GET /livez HTTP/1.1\r\nHost: a\r\n\r\n${head}`);
  await once(socket, 'data');
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  await load(url, ['/livez'], 1).refused();
  socket.write('{"title":"a"}');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 .*^Connection: close\r\n/ims);
});

test('SIGTERM lets a long list be read to its end', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const url = await service.listening();
  await insertNotes(50_000);
  const response = await fetch(`${url}/notes?limit=1000000`);
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  expect(await response.json()).toHaveLength(50_000);
  expect((await service.ended).code).toBe(0);
});

test('`main.js migrate` that is stopped before it has migrated does not end as if it had, and says so', async () => {
  const nowhere = `postgres://notes:secret@127.0.0.1:${await freePort()}/notes`;
  const job = startNotes({ DATABASE_URL: nowhere }, 'migrate');
  await job.logged(/^database is not up yet/);
  job.child.kill('SIGTERM');
  expect((await job.ended).code).toBe(1);
  expect(job.log.at(-1)!.msg).toBe('stopped before the database was up to date');
  expect(JSON.stringify(job.log)).not.toContain('secret');
});

test('SIGTERM before the database is up ends the service with code 0', async () => {
  const nowhere = `postgres://notes:secret@127.0.0.1:${await freePort()}/notes`;
  const service = startNotes({ DATABASE_URL: nowhere });
  await service.logged(/^database is not up yet/);
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test.each(['wr0ng', ''])(
  'The password "%s" that the database refuses ends the process with exit code 1 and no retries',
  async (password) => {
    const url = Object.assign(new URL(database.url), { password });
    const refused = startNotes({ DATABASE_URL: url.href });
    expect((await refused.ended).code).toBe(1);
    expect(refused.log.filter(isNotSlow).map(({ msg }) => msg)).toEqual(['cannot migrate the database']);
  },
);

/** On a busy machine, it may take too long to connect. */
const isNotSlow = ({ err }: LogLine) => (err as { code?: string } | undefined)?.code !== 'ETIMEDOUT';

describe('A database that stays unusable ends the process with exit code 1 and no retries', () => {
  /** Serving with and without migrations, and migrating alone, end with this error in their only line. */
  async function expectRefused(DATABASE_URL: string, error: object) {
    const all = [
      startNotes({ DATABASE_URL }),
      startNotes({ DATABASE_URL }, 'migrate'),
      startNotes({ DATABASE_URL, MIGRATE_ON_START: 'false' }),
    ];
    for (const { ended, log } of all) {
      expect(await ended).toEqual({ code: 1, errors: '' });
      expect(log.filter(isNotSlow)).toEqual([
        expect.objectContaining({ level: 60, err: expect.objectContaining(error) }),
      ]);
    }
  }

  const withParameters = (url: URL, parameters: Record<string, string>) => {
    Object.entries(parameters).forEach(([name, value]) => url.searchParams.set(name, value));
    return url.href;
  };

  test('which does not exist', async () => {
    const url = Object.assign(new URL(database.url), { pathname: '/nowhere' });
    await expectRefused(url.href, { code: '3D000' });
  });

  test('whose server does not speak TLS', async () => {
    const url = withParameters(new URL(database.url), { sslmode: 'verify-full' });
    await expectRefused(url, { message: 'The server does not support SSL connections' });
  });

  test('whose server is not PostgreSQL', async () => {
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = new URL(`postgres://notes@127.0.0.1:${(other.address() as AddressInfo).port}/notes`);
    await expectRefused(withParameters(url, { sslmode: 'verify-full' }), {
      message: 'There was an error establishing an SSL connection',
    });
    other.close();
  });

  test('whose certificate is not trusted, or is that of another host', async () => {
    const server = await startSelfSigned();
    const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
    const sslrootcert = join(folder, 'ca.pem');
    await writeFile(sslrootcert, selfSigned);
    const url = () => new URL(`postgres://notes:secret@127.0.0.1:${server.port}/notes`);
    await expectRefused(withParameters(url(), { sslmode: 'verify-full' }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await expectRefused(withParameters(url(), { sslmode: 'verify-full', sslrootcert }), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    server.stop();
    await rm(folder, { recursive: true });
  });

  test.each(['LATIN1', 'SQL_ASCII'])('whose encoding is %s', async (encoding) => {
    const name = `${new URL(database.url).pathname.slice(1)}_${encoding.toLowerCase()}`;
    const db = openTestConnection(database.url);
    await sql`create database ${sql.id(name)} template template0 encoding ${sql.lit(encoding)}
      locale_provider libc locale 'C'`.execute(db);
    await expectRefused(Object.assign(new URL(database.url), { pathname: `/${name}` }).href, {
      message: `The encoding of the database must be UTF8; it is ${encoding}`,
    });
    await sql`drop database ${sql.id(name)}`.execute(db);
    await db.destroy();
  });

  test('whose server is older than PostgreSQL 14', async () => {
    const db = openTestConnection(database.url);
    await sql`create schema older`.execute(db);
    await sql`create function older.current_setting(text) returns text language sql
      as $$ select case $1 when 'server_version' then '13.23' else pg_catalog.current_setting($1) end $$`.execute(db);
    await db.destroy();
    await expectRefused(withParameters(new URL(database.url), { options: '-csearch_path=older,pg_catalog' }), {
      message: 'PostgreSQL must be version 14 or newer; it is 13.23',
    });
  });
});

test('A role that may not see which migrations there have been ends the process with exit code 1 and no retries; one that may needs no more rights to start', async () => {
  expect((await startNotes({ DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  await withRole(database, async (db, role, DATABASE_URL) => {
    const refused = startNotes({ DATABASE_URL });
    expect((await refused.ended).code).toBe(1);
    expect(refused.log.filter(isNotSlow).map(({ msg }) => msg)).toEqual(['cannot migrate the database']);

    await sql`grant select on all tables in schema public to ${role}`.execute(db);
    const ready = await fetch(`${await startNotes({ DATABASE_URL }).listening()}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { message: 'ready' }]);
  });
});

test('To migrate, three connections are enough, also while another process does', () =>
  withRole(database, async (db, role, limitedUrl) => {
    await sql`alter role ${role} connection limit 3`.execute(db);
    await sql`alter default privileges grant all on tables to ${role}`.execute(db);
    await sql`grant create on schema public to ${role}`.execute(db);
    const inTheWay = await db.startTransaction().execute();
    // On a busy machine, the processes take long to start.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(inTheWay);
    await sql`create table note ()`.execute(inTheWay);
    const ended = [];
    for (const DATABASE_URL of [database.url, limitedUrl]) {
      const job = startNotes({ DATABASE_URL }, 'migrate');
      await job.logged(/^the migration waits for other sessions/);
      ended.push(job.ended);
    }
    await inTheWay.rollback().execute();
    expect(await Promise.all(ended)).toEqual(Array(2).fill({ code: 0, errors: '' }));
  }));

test('An older image that meets a newer schema starts and serves', async () => {
  expect((await startNotes({ DATABASE_URL: database.url }, 'migrate').ended).code).toBe(0);
  const db = openTestConnection(database.url);
  await sql`insert into kysely_migration (name, timestamp) values ('9999_newer', '2100-01-01T00:00:00.000Z')`.execute(
    db,
  );
  await sql`alter table note add column newer text`.execute(db);
  await db.destroy();
  const url = await startNotes({ DATABASE_URL: database.url }).listening();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const { id } = await createNote(url);
  const note: unknown = await (await fetch(`${url}/notes/${id}`)).json();
  expect([id, Object.keys(note as object)]).toEqual([1, expect.not.arrayContaining(['newer'])]);
});

test('Connections on which nothing, or half a request, is sent do not prevent the end', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const { port } = new URL(await service.listening());
  const silent = connect(Number(port), '127.0.0.1');
  const halfSent = connect(Number(port), '127.0.0.1');
  await Promise.all([once(silent, 'connect'), once(halfSent, 'connect')]);
  halfSent.write('GET /notes HTTP/1.1\r\nHost:');
  await fetch(`http://127.0.0.1:${port}/livez`);
  const signalledAt = performance.now();
  service.child.kill('SIGTERM');
  await once(silent.resume(), 'close');
  // Without a signal, too, it is cut, 5 s after it has been opened.
  expect(performance.now() - signalledAt).toBeLessThan(3_000);
  expect((await service.ended).code).toBe(0);
  halfSent.destroy();
});

test('A log that cannot be written ends nothing', async () => {
  const PORT = `${await freePort()}`;
  const readOnly = openSync(main, 'r');
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT, DATABASE_URL: database.url },
    stdio: ['ignore', readOnly, 'pipe'],
  });
  closeSync(readOnly);
  const errors = text(child.stderr!);
  const ended = once(child, 'close');
  const answer = async (): Promise<number> => {
    const { status } = await fetch(`http://127.0.0.1:${PORT}/notes`).catch(() => ({ status: 0 }));
    return status === 0 && child.exitCode === null ? answer() : status;
  };
  for (let turn = 0; turn < 3; turn += 1) expect(await answer()).toBe(200);
  child.kill('SIGTERM');
  expect([(await ended)[0], await errors]).toEqual([0, '']);
});

test('A log that nobody reads holds up neither a request nor the end, and is complete when it is read after all', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const url = await service.listening();
  service.child.stdout.pause();
  const REQUESTS = 400;
  const long = 'a'.repeat(4_000);
  for (let turn = 0; turn < REQUESTS; turn += 1) {
    expect((await fetch(`${url}/notes?${long}=${turn}`)).status).toBe(200);
  }
  service.child.stdout.resume();
  await service.logged(({ url }) => String(url).endsWith(`=${REQUESTS - 1}`));
  expect(service.log.filter(({ msg }) => msg === 'request')).toHaveLength(REQUESTS);

  service.child.stdout.pause();
  for (let turn = 0; turn < REQUESTS; turn += 1) await fetch(`${url}/notes?${long}`);
  service.child.kill('SIGTERM');
  expect(await once(service.child, 'exit')).toEqual([0, null]);
  // What nobody has taken may end in the middle of a line.
  service.child.stdout.destroy();
});

test('A second signal ends the process at once', async () => {
  const service = startNotes({ DATABASE_URL: database.url, SHUTDOWN_DELAY_MS: '5000' });
  await service.listening();
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  service.child.kill('SIGTERM');
  expect((await service.ended).code).toBe(1);
});

test.each([
  ['the service', [], /^Server listening at/],
  ['the migration', ['migrate'], /^database is not up yet/],
] as const)('An unexpected error of %s is logged and ends the process with code 1', async (_, args, whenLogged) => {
  const failing = 'process.on("SIGUSR2", () => { throw new Error("unexpected") })';
  const url = new URL(database.url);
  if (args.length > 0) url.port = `${await freePort()}`;
  const service = startNotes(
    { DATABASE_URL: url.href, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(failing)}` },
    ...args,
  );
  await service.logged(whenLogged);
  service.child.kill('SIGUSR2');
  expect((await service.ended).code).toBe(1);
  const fatal: unknown = expect.objectContaining({
    level: 60,
    err: expect.objectContaining({ message: 'unexpected' }),
  });
  expect(service.log).toContainEqual(fatal);
});

test('What was sent is not in the log, when a server that quotes the values of failed statements ends one', async () => {
  const db = openTestConnection(database.url);
  const name = sql.id(new URL(database.url).pathname.slice(1));
  await sql`alter database ${name} set log_parameter_max_length_on_error = -1`.execute(db);
  const service = startNotes({ DATABASE_URL: database.url, DATABASE_POOL_MAX: '1' });
  const url = await service.listening();
  // What is being prepared has no values yet.
  await createNote(url);
  const inTheWay = await db.startTransaction().execute();
  await sql`lock table note in share mode`.execute(inTheWay);
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"s3cret"}' };
  const { status } = await fetch(`${url}/notes`, init);
  await inTheWay.rollback().execute();
  await db.destroy();
  // Whose limit ends it, the server's or the service's own, is not sure on a busy machine.
  const codes = ['57014', 'ETIMEDOUT'];
  const { err } = await service.logged(({ err }) => codes.includes((err as { code?: string } | undefined)?.code ?? ''));
  expect(status).toBe((err as { code: string }).code === '57014' ? 503 : 500);
  expect(err).not.toHaveProperty('where');
  expect(JSON.stringify(service.log)).not.toContain('s3cret');
});

test('A port that is taken ends the process with code 1 and one line that names it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, errors } = await startNotes({ DATABASE_URL: database.url, PORT: `${port}` }).ended;
  other.close();
  expect(code).toBe(1);
  expect(errors).toMatch(new RegExp(`^Port ${port} is taken on 127\\.0\\.0\\.1: [^\\n]*\\n$`));
});

test.each([
  ['PORT', 'http'],
  ['DATABASE_POOL_MAX', '0'],
  ['MIGRATE_ON_START', 'yes'],
  ['CORS_ORIGIN', 'example.org'],
  ['LOG_LEVEL', 'loud'],
  ['NODE_ENV', 'prod'],
  ['SHUTDOWN_DELAY_MS', '-1'],
])(
  'a wrong %s ends the process with exit code 1 and one line that names it, what it was and what is allowed',
  async (name, value) => {
    const { code, errors } = await startNotes({ DATABASE_URL: database.url, [name]: value }).ended;
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^${name} must be [^\\n]+; it is "${value}"\\n$`)),
    ]);
  },
);

test.each(['DATABASE_URL', 'DATABASE_MIGRATION_URL'])(
  'a wrong %s ends the process with exit code 1 and one line that names it and what is allowed, and never the password',
  async (name) => {
    const values = ['mysql://notes:pa55word@db/notes', 'postgres://notes:pa55word@db:99999/notes'];
    const started = values.map((value) => startNotes({ DATABASE_URL: database.url, [name]: value }).ended);
    for (const { code, errors } of await Promise.all(started)) {
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^${name} must be [^\\n]*postgres://[^\\n]+\\n$`)),
      ]);
      expect(errors).not.toContain('pa55word');
    }
  },
);

test('Start: processes that start at once on an empty database migrate it under the lock, one after the other, and all serve', async () => {
  const db = openTestConnection(database.url);
  const inTheWay = await db.startTransaction().execute();
  // On a busy machine, the processes take long to start.
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(inTheWay);
  await sql`create table note ()`.execute(inTheWay);
  const services = Array.from({ length: 4 }, () => startNotes({ DATABASE_URL: database.url }));
  // The first for the name of the table, the others for the lock.
  await Promise.all(services.map(({ logged }) => logged(/^the migration waits for other sessions/)));
  await inTheWay.rollback().execute();
  await db.destroy();
  const urls = await Promise.all(services.map(({ listening }) => listening()));
  const ids = await Promise.all(urls.map(async (url) => (await createNote(url)).id));
  expect(ids.sort()).toEqual([1, 2, 3, 4]);
});

test('SHUTDOWN_DELAY_MS is 1000 in production: the listener closes this long after /readyz has turned 503', async () => {
  const service = startNotes({ DATABASE_URL: database.url, NODE_ENV: 'production' });
  const url = await service.listening();
  const signalledAt = performance.now();
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  const anew = { headers: { connection: 'close' } };
  let answered = 0;
  try {
    for (; ; answered += 1) {
      const response = await fetch(`${url}/readyz`, anew);
      expect([response.status, await response.json()]).toEqual([503, { message: 'draining' }]);
    }
  } catch (error) {
    expect(error).toMatchObject({ message: 'fetch failed' });
  }
  expect(answered).toBeGreaterThan(0);
  expect(performance.now() - signalledAt).toBeGreaterThan(900);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test('SIGTERM: the answer to a request that arrives on an open connection afterwards says that it is closed', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const { port } = new URL(await service.listening());
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  service.child.kill('SIGTERM');
  await service.logged(/^draining/);
  // The port is closed when nobody can connect any more.
  for (;;) {
    const late = connect(Number(port), '127.0.0.1');
    try {
      await once(late, 'connect');
      late.destroy();
    } catch {
      break;
    }
  }
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*^Connection: close\r\n/ims);
  expect(await service.ended).toEqual({ code: 0, errors: '' });
});

test('SIGTERM: idle keep-alive connections are closed, not waited for', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const { port } = new URL(await service.listening());
  const idle = connect(Number(port), '127.0.0.1');
  idle.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answer] = (await once(idle, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/);
  const signalledAt = performance.now();
  service.child.kill('SIGTERM');
  expect(await service.ended).toEqual({ code: 0, errors: '' });
  // Whatever is still open is cut later.
  expect(performance.now() - signalledAt).toBeLessThan(5_000);
  idle.destroy();
});

test('an address in HOST that the machine does not have ends the process with exit code 1 and one line that names it', async () => {
  const { code, errors } = await startNotes({ DATABASE_URL: database.url, HOST: '203.0.113.1' }).ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(/^[^\n]*203\.0\.113\.1[^\n]*\n$/)]);
});

test('DATABASE_MIGRATION_URL of the same database as DATABASE_URL: there is no pooler, and PostgreSQL ends what takes too long', async () => {
  const service = startNotes({ DATABASE_URL: database.url, DATABASE_MIGRATION_URL: database.url });
  const url = await service.listening();
  const db = openTestConnection(database.url);
  await db.transaction().execute(async (transaction) => {
    await sql`lock table note`.execute(transaction);
    expect((await fetch(`${url}/notes/1`)).status).toBe(503);
    await service.logged(({ err }) => (err as { code?: string } | undefined)?.code === '57014');
  });
  await db.destroy();
});

test('HOST localhost: at each of its addresses there is the service, or nothing', async () => {
  const service = startNotes({ DATABASE_URL: database.url, HOST: 'localhost' });
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

test('DATABASE_POOL_MAX: the service never has more connections', async () => {
  const service = startNotes({ DATABASE_URL: database.url, DATABASE_POOL_MAX: '3' });
  const traffic = load(await service.listening(), ['/notes', '/notes/summary'], 32);
  await traffic.until(({ status }) => status === 200, 500);
  const db = openTestConnection(database.url);
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  await db.destroy();
  expect(rows).toHaveLength(3);
  expect((await traffic.stop()).filter(({ status }) => status !== 200)).toEqual([]);
});

test('DATABASE_POOL_MAX: /readyz has a connection of its own, and says ready while all others are waiting for something', async () => {
  const url = await startNotes({ DATABASE_URL: database.url, DATABASE_POOL_MAX: '1' }).listening();
  const { id } = await createNote(url);
  const db = openTestConnection(database.url);
  const answers = await db.transaction().execute(async (locking) => {
    await sql`select from note where id = ${id} for update`.execute(locking);
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"title":"b"}' };
    const change = fetch(`${url}/notes/${id}`, init);
    const waiting = sql`select from pg_locks where not granted`;
    while ((await waiting.execute(locking)).rows.length === 0);
    return { ready: (await fetch(`${url}/readyz`)).status, change };
  });
  expect([answers.ready, (await answers.change).status]).toEqual([200, 200]);
  await db.destroy();
});

test('Log: one JSON line per request with reqId, which the answer echoes, for those that are refused as well', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const url = await service.listening();
  const post = (body: string, type = 'application/json') => ({
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
  const requests: [string, RequestInit?][] = [
    ['/notes', { headers: { 'x-request-id': '"quoted\\' } }],
    ['/notes/1'],
    ['/nowhere'],
    ['/%zz'],
    ['/notes', post('{"title":')],
    ['/notes', post('a', 'text/plain')],
    ['/notes', post('a'.repeat(2 ** 21))],
  ];
  const answers: unknown[] = [];
  const startedAt = performance.now();
  for (const [path, init] of requests) {
    const { status, headers } = await fetch(url + path, init);
    answers.push({ url: path, status, reqId: headers.get('x-request-id') });
  }
  const tookMs = performance.now() - startedAt;
  expect(answers).toMatchObject([200, 404, 404, 404, 400, 415, 413].map((status) => ({ status })));
  service.child.kill('SIGTERM');
  await service.ended;
  const lines = service.log.filter(({ msg }) => msg === 'request');
  expect(lines.map(({ url, status, reqId }) => ({ url, status, reqId }))).toEqual(answers);
  const { level, pid, hostname } = service.log[0]!;
  const common = { level, pid, hostname, time: expect.any(Number), ip: '127.0.0.1' };
  expect(lines).toMatchObject(lines.map(() => common));
  const together = lines.reduce((sum, { ms }) => sum + Number(ms), 0);
  expect(together > 0 && together < tookMs).toBe(true);
});

test('Log: a URL and a request id are there as they were sent, whatever is in them', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const { hostname, port } = new URL(await service.listening());
  const [url, reqId] = [String.raw`/notes?"a"=\n{},`, String.raw`"b"=\n{},`];
  const asked = get({ hostname, port, path: url, headers: { 'x-request-id': reqId }, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  expect(response.headers['x-request-id']).toBe(reqId);
  expect(await service.logged(/^request$/)).toMatchObject({ url, reqId, status: 200 });
});

test('Log: what is no HTTP is one line as well', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const socket = connect(Number(new URL(await service.listening()).port), '127.0.0.1');
  socket.write('nonsense\r\n\r\n');
  expect(await text(socket)).toMatch('HTTP/1.1 400 ');
  expect(await service.logged(/^request$/)).toMatchObject({
    status: 400,
    code: 'HPE_INVALID_METHOD',
    ip: '127.0.0.1',
  });
});

test('Log: what PostgreSQL refuses does not show what was sent', async () => {
  const service = startNotes({ DATABASE_URL: database.url });
  const url = await service.listening();
  const db = openTestConnection(database.url);
  await sql`alter table note add check (title <> 's3cret')`.execute(db);
  const headers = { 'content-type': 'application/json' };
  const refused = await fetch(`${url}/notes`, { method: 'POST', headers, body: '{"title":"s3cret"}' });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  const { reqId } = await service.logged(/^request$/);
  expect(await service.logged(/^request failed$/)).toMatchObject({ reqId });
  expect(JSON.stringify(service.log)).toContain('note_title_check');
  expect(JSON.stringify(service.log)).not.toContain('s3cret');
  await db.destroy();
});

test('LOG_LEVEL: warn logs nothing of what goes well, debug the requests of probes as well', async () => {
  const job = startNotes({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' }, 'migrate');
  expect([await job.ended, job.log.filter(isNotSlow)]).toEqual([{ code: 0, errors: '' }, []]);

  const PORT = `${await freePort()}`;
  const quiet = startNotes({ DATABASE_URL: database.url, LOG_LEVEL: 'warn', PORT });
  const answer = () => fetch(`http://127.0.0.1:${PORT}/notes`).catch(() => undefined);
  // No log line says that it listens.
  while (!(await answer()));
  quiet.child.kill('SIGTERM');
  expect([await quiet.ended, quiet.log.filter(isNotSlow)]).toEqual([{ code: 0, errors: '' }, []]);

  for (const [LOG_LEVEL, logged] of [
    ['info', ['/notes']],
    ['debug', ['/livez', '/notes']],
  ] as const) {
    const service = startNotes({ DATABASE_URL: database.url, LOG_LEVEL });
    const url = await service.listening();
    for (const path of ['/livez', '/notes']) await (await fetch(url + path)).text();
    service.child.kill('SIGTERM');
    await service.ended;
    expect(service.log.filter(({ msg }) => msg === 'request').map((line) => line.url)).toEqual(logged);
  }
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ family }) => family === 'IPv6'));

describe('`node main.js health`', () => {
  test.each(['0.0.0.0', ...(hasIpv6 ? ['::'] : [])])(
    'ends with 0 when the service listens on HOST=%s, and with 1, by itself, when it has stopped answering',
    async (HOST) => {
      const service = startNotes({ DATABASE_URL: database.url, HOST });
      const { port } = new URL(await service.listening());
      const health = () => startNotes({ DATABASE_URL: database.url, HOST, PORT: port }, 'health').ended;
      expect(await health()).toEqual({ code: 0, errors: '' });
      service.child.kill('SIGSTOP');
      expect(await health()).toEqual({ code: 1, errors: '' });
    },
  );
});

test('X_FILE: the DATABASE_MIGRATION_URL in the file that DATABASE_MIGRATION_URL_FILE names is the connection for migrations', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secret-'));
  await writeFile(join(folder, 'url'), `${database.url}\n`);
  const nowhere = `postgres://notes:secret@127.0.0.1:${await freePort()}/notes`;
  const environment = { DATABASE_URL: nowhere, DATABASE_MIGRATION_URL_FILE: join(folder, 'url') };
  expect(await startNotes(environment, 'migrate').ended).toEqual({ code: 0, errors: '' });
  const url = await startNotes({ DATABASE_URL: database.url, MIGRATE_ON_START: 'false' }).listening();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await rm(folder, { recursive: true });
});

test.each(['DATABASE_URL_FILE', 'DATABASE_MIGRATION_URL_FILE'])(
  'X_FILE: a %s that does not exist ends the process with exit code 1 and one line that names it',
  async (name) => {
    const file = join(tmpdir(), 'no', 'such', 'file');
    const { code, errors } = await startNotes({ [name]: file }).ended;
    expect([code, errors]).toEqual([1, expect.stringMatching(new RegExp(`^${name} must [^\\n]*"${file}"\\n$`))]);
  },
);

test('X_FILE: the secret is read from this file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secret-'));
  await writeFile(join(folder, 'url'), `${database.url}\n`);
  const service = startNotes({ DATABASE_URL: '', DATABASE_URL_FILE: join(folder, 'url') });
  expect((await fetch(`${await service.listening()}/readyz`)).status).toBe(200);
  await rm(folder, { recursive: true });
});

test('a command that is none ends the process with exit code 1 and one line', async () => {
  const { code, errors } = await startNotes({ DATABASE_URL: database.url }, 'serve').ended;
  expect([code, errors]).toEqual([1, expect.stringMatching(/^serve is no command; [^\n]+\n$/)]);
});
