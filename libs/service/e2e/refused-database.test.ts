import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { isNotUpYet } from '../src/commands.ts';
import { isNotSlow, notes } from '../test/process/notes-process.ts';

const urlWith = (parts: Partial<URL>, search: Record<string, string> = {}) =>
  Object.assign(new URL(notes.database.url), { ...parts, search: new URLSearchParams(search).toString() }).href;

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
      expect(log.filter(isNotSlow)).toMatchObject([{ level: 60, err: error }]);
    }
  }

  test.each([
    ['takes another password', { password: 'wr0ng' }, {}, { code: '28P01' }],
    ['wants a password', { password: '' }, {}, { code: '28000' }],
    ['does not exist', { pathname: '/nowhere' }, {}, { code: '3D000' }],
    ['server has no TLS', {}, { sslmode: 'verify-full' }, { message: 'The server does not support SSL connections' }],
  ])('%s', (_, parts, search, error) => expectRefused(urlWith(parts, search), error));

  test.each(['CERT_HAS_EXPIRED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'])('has a certificate with %s', (code) => {
    expect(isNotUpYet(Object.assign(new Error(), { code }))).toBe(false);
  });

  test('has another encoding than UTF8', async () => {
    const name = `${new URL(notes.database.url).pathname.slice(1)}_latin1`;
    await sql`create database ${sql.id(name)} template template0 encoding 'LATIN1'
      locale_provider libc locale 'C'`.execute(notes.db);
    const message = 'The encoding of the database must be UTF8; it is LATIN1';
    await expectRefused(urlWith({ pathname: `/${name}` }), { message });
    await sql`drop database ${sql.id(name)}`.execute(notes.db);
  });

  test('server is older than PostgreSQL 14', async () => {
    await sql`create schema older`.execute(notes.db);
    await sql`create function older.current_setting(text) returns text language sql as $$
      select case $1 when 'server_version' then '13.23' else pg_catalog.current_setting($1) end $$`.execute(notes.db);
    const message = 'PostgreSQL must be version 14 or newer; it is 13.23';
    await expectRefused(urlWith({}, { options: '-csearch_path=older,pg_catalog' }), { message });
  });
});
