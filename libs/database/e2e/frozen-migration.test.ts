import { EventEmitter, once } from 'node:events';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { migrate, pendingMigrations, type Migrations } from '../src/index.ts';
import { db, indexed, options, released, status } from '../test/migrating.ts';

// A process that stops without ending asks nothing more of the database: the server ends its session after some seconds.

test.each<[string, (wait: () => Promise<void>) => Migrations[string]]>([
  ['in a transaction', (up) => ({ up })],
  ['beside an index', (wait) => ({ ...status, definition: () => wait().then(() => status.definition) })],
])('Migrations go on some seconds after the process that holds the lock has fallen silent %s', async (_, make) => {
  await migrate(options(), released);
  const silence = new EventEmitter();
  const begun = once(silence, 'begun');
  const wait = async () => {
    silence.emit('begun');
    await once(silence, 'over');
  };
  const silent = migrate(options(), { ...released, '0002_item_status': make(wait) });
  await begun;
  await migrate(options(), indexed);
  silence.emit('over');
  await expect(silent).rejects.toThrow();
  expect(await pendingMigrations(db, indexed)).toEqual([]);
  const valid = sql`select from pg_index where indisvalid and indexrelid = 'item_status'::regclass`;
  expect((await valid.execute(db)).rows).toHaveLength(1);
});
