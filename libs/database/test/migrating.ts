// What the files share whose tests migrate a database, which each test finds empty.
import { beforeEach } from '@jest/globals';
import { sql, type Kysely, type QueryExecutorProvider, type RawBuilder } from 'kysely';
import type { Migrations } from '../src/index.ts';
import { database, openPatient } from './open-database.ts';

/** Of one session. */
export let db: Kysely<unknown>;

export const options = (searchPath = 'public') => ({
  url: `${database.url}?options=-csearch_path=${searchPath}`,
  onConnectionError: () => undefined,
});

beforeEach(async () => {
  db = openPatient();
  // A failed test may have left locks.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  await sql`drop schema if exists public, app, first, other cascade`.execute(db);
  await sql`create schema public`.execute(db);
});

/** A migration of one statement. */
export const making = (statement: RawBuilder<unknown>) => ({
  up: async (db: QueryExecutorProvider) => void (await statement.execute(db)),
});

export const released: Migrations = { '0001_item': making(sql`create table item (status text)`) };
export const status = { createIndexConcurrently: 'item_status', on: 'item', definition: sql`(status)` };
export const indexed: Migrations = { ...released, '0002_item_status': status };
