import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openTestConnection, withRole } from '@rest-services/testing';
import { sql } from 'kysely';
import { isNotSlow, notes } from '../test/process/notes-process.ts';
import { selfSigned, startSelfSigned } from './self-signed.ts';

test.each(['wr0ng', ''])('a refused password ("%s"): the process exits with 1 and does not retry', async (password) => {
  const url = Object.assign(new URL(notes.database.url), { password });
  const refused = notes.start({ DATABASE_URL: url.href });
  expect((await refused.ended).code).toBe(1);
  expect(refused.log.filter(isNotSlow).map(({ msg }) => msg)).toEqual(['cannot migrate the database']);
});

describe('The process exits with 1 and does not retry when the database', () => {
  /** Expects this error in the only log line, with and without migrations, and when the process only migrates. */
  async function expectRefused(DATABASE_URL: string, error: object) {
    const all = [
      notes.start({ DATABASE_URL }),
      notes.start({ DATABASE_URL }, 'migrate'),
      notes.start({ DATABASE_URL, MIGRATE_ON_START: 'false' }),
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

  test('does not exist', async () => {
    const url = Object.assign(new URL(notes.database.url), { pathname: '/nowhere' });
    await expectRefused(url.href, { code: '3D000' });
  });

  test('server does not support TLS', async () => {
    const url = withParameters(new URL(notes.database.url), { sslmode: 'verify-full' });
    await expectRefused(url, { message: 'The server does not support SSL connections' });
  });

  test('server is not PostgreSQL', async () => {
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
      .listen(0, '127.0.0.1')
      .unref();
    await once(other, 'listening');
    const url = new URL(`postgres://notes@127.0.0.1:${(other.address() as AddressInfo).port}/notes`);
    await expectRefused(withParameters(url, { sslmode: 'verify-full' }), {
      message: 'There was an error establishing an SSL connection',
    });
  });

  test('certificate is not trusted, or has another host', async () => {
    const port = await startSelfSigned();
    const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
    const sslrootcert = join(folder, 'ca.pem');
    await writeFile(sslrootcert, selfSigned);
    const url = () => new URL(`postgres://notes:secret@127.0.0.1:${port}/notes`);
    await expectRefused(withParameters(url(), { sslmode: 'verify-full' }), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await expectRefused(withParameters(url(), { sslmode: 'verify-full', sslrootcert }), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    await rm(folder, { recursive: true });
  });

  test.each(['LATIN1', 'SQL_ASCII'])('encoding is %s', async (encoding) => {
    const name = `${new URL(notes.database.url).pathname.slice(1)}_${encoding.toLowerCase()}`;
    const db = openTestConnection(notes.database.url);
    await sql`create database ${sql.id(name)} template template0 encoding ${sql.lit(encoding)}
      locale_provider libc locale 'C'`.execute(db);
    await expectRefused(Object.assign(new URL(notes.database.url), { pathname: `/${name}` }).href, {
      message: `The encoding of the database must be UTF8; it is ${encoding}`,
    });
    await sql`drop database ${sql.id(name)}`.execute(db);
    await db.destroy();
  });

  test('server is older than PostgreSQL 14', async () => {
    const db = openTestConnection(notes.database.url);
    await sql`create schema older`.execute(db);
    await sql`create function older.current_setting(text) returns text language sql
      as $$ select case $1 when 'server_version' then '13.23' else pg_catalog.current_setting($1) end $$`.execute(db);
    await db.destroy();
    await expectRefused(withParameters(new URL(notes.database.url), { options: '-csearch_path=older,pg_catalog' }), {
      message: 'PostgreSQL must be version 14 or newer; it is 13.23',
    });
  });
});

test('a role needs the right to read the applied migrations, and no others, to start', async () => {
  expect((await notes.start({}, 'migrate').ended).code).toBe(0);
  await withRole(notes.database, async (db, role, DATABASE_URL) => {
    const refused = notes.start({ DATABASE_URL });
    expect((await refused.ended).code).toBe(1);
    expect(refused.log.filter(isNotSlow).map(({ msg }) => msg)).toEqual(['cannot migrate the database']);

    await sql`grant select on all tables in schema public to ${role}`.execute(db);
    const ready = await fetch(`${await notes.start({ DATABASE_URL }).listening()}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { message: 'ready' }]);
  });
});
