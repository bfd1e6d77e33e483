import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { prepared } from '../src/index.ts';
import { database, open, openConnected } from './open-database.ts';

describe('Database', () => {
  test.each([
    ['2026-11-20 18:30:00.5+00', '2026-11-20T18:30:00.500Z'],
    ['2026-11-20 18:30:00.123999+00', '2026-11-20T18:30:00.123Z'],
    ['2026-11-20 18:30:00+05:30', '2026-11-20T13:00:00.000Z'],
  ])('reads the timestamp %s as %s', async (text, iso) => {
    for (const zone of ['UTC', 'Asia/Tokyo']) {
      const db = await openConnected();
      await sql`select set_config('TimeZone', ${zone}, false)`.execute(db);
      expect((await sql`select ${text}::timestamptz as at`.execute(db)).rows).toEqual([{ at: iso }]);
    }
  });

  test('closes only the session whose write is refused as read-only, and counts it as no lost connection', async () => {
    const db = await openConnected({ poolMax: 2 });
    const session = () => sql<{ pid: number }>`select pg_backend_pid() as pid from pg_sleep(0.1)`.execute(db);
    const pids = async () => (await Promise.all([session(), session()])).map(({ rows }) => rows[0]!.pid);
    const before = await pids();
    await sql`set default_transaction_read_only = on`.execute(db);
    await expect(sql`create table refused ()`.execute(db)).rejects.toMatchObject({ code: '25006' });
    const after = await pids();
    expect(after.filter((pid) => before.includes(pid))).toHaveLength(1);
    expect(db.lostConnections).toBe(0);
  });

  test('prepares no statement behind a pooler, which would lead the next one to another session', async () => {
    const prepare = async (pooler?: 'transaction') => {
      const db = await openConnected({ pooler });
      await db.read(prepared(sql`select 1`), []);
      return (await db.read({ text: 'select name from pg_prepared_statements' }, [])).rows.length;
    };
    expect([await prepare(), await prepare('transaction')]).toEqual([1, 0]);
  });

  test.each(['0A000', '42703', '42804', '26000'])('repeats a prepared statement that fails with %s', async (code) => {
    // Without time limits, so that a busy machine decides nothing.
    const db = open({ purpose: 'migrations' });
    await sql`create sequence attempt`.execute(db);
    // A sequence counts what is undone, too.
    await sql`create function fail(times bigint) returns bigint language plpgsql as ${sql.lit(`begin
      if nextval('attempt') <= times then raise sqlstate '${code}'; end if;
      return currval('attempt');
    end`)}`.execute(db);
    const statement = prepared<{ attempts: number }>(sql`select fail(${1}::bigint) as attempts`);
    expect((await db.read(statement, [1])).rows).toEqual([{ attempts: 2 }]);
    await expect(db.read(statement, [9])).rejects.toMatchObject({ code });
    expect((await sql`select last_value as attempts from attempt`.execute(db)).rows).toEqual([{ attempts: 4 }]);
    await sql`drop function fail; drop sequence attempt`.execute(db).catch(() => undefined);
  });

  test('has no time limit for statements and locks of migrations, whatever the database has', async () => {
    const observer = await openConnected();
    await inDatabase(observer, "set statement_timeout = '1500ms'");
    await inDatabase(observer, "set lock_timeout = '1500ms'");
    const db = open({ purpose: 'migrations' });
    // Longer than a session of a request may take.
    await sql`select pg_sleep(1.9)`.execute(db);
    const { rows } = await sql`select current_setting('lock_timeout') as lock_timeout`.execute(db);
    expect(rows).toEqual([{ lock_timeout: '0' }]);
    await inDatabase(observer, 'reset all');
  });

  test('has its own defaults, whatever the database has, and the options of the connection string beside them', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=elsewhere -c DateStyle=German');
    url.searchParams.set('application_name', 'other');
    const db = open({ url: url.href, applicationName: 'notes' });
    const other = open({ purpose: 'migrations' });
    await inDatabase(other, "set DateStyle = 'SQL, DMY'");
    await inDatabase(other, "set default_transaction_isolation = 'serializable'");
    for (const change of ['set jit = on', "set idle_session_timeout = '1min'", 'set array_nulls = off'])
      await inDatabase(other, change);
    const { rows } = await sql`
      select '2026-11-05 18:30:00+00'::timestamptz as at, current_setting('transaction_isolation') as isolation,
        current_setting('search_path') as path, current_setting('TimeZone') as zone,
        current_setting('application_name') as name, current_setting('array_nulls') as nulls,
        current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit,
        current_setting('idle_session_timeout') as idle, current_setting('tcp_keepalives_idle') as keepalive,
        current_setting('client_connection_check_interval') as checked`.execute(db);
    await inDatabase(other, 'reset all');
    expect(rows).toEqual([
      {
        ...{ at: '2026-11-05T18:30:00.000Z', isolation: 'read committed', path: 'elsewhere', zone: 'UTC' },
        ...{ name: 'other', nulls: 'on', seqscan: 'off', jit: 'off', idle: '0', keepalive: '30', checked: '1s' },
      },
    ]);
  });
});

const inDatabase = (db: ReturnType<typeof open>, change: string) =>
  sql`do ${sql.lit(`begin execute format('alter database %I ${change.replaceAll("'", "''")}', current_database()); end`)}`.execute(
    db,
  );
