import { describe, expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import { services } from '@rest-services/workspace';
import { sql } from 'kysely';
import { withRole } from '../database/with-role.ts';
import { send, type Write } from '../http/load.ts';
import { sendJson } from '../http/send-json.ts';
import { startShared } from '../service/processes.ts';
import { testAnyInput } from './any-input.ts';
import { testColumnValues } from './column-values.ts';
import { testColumns } from './columns.ts';
import { testDocument } from './document.ts';
import { expectReadme } from './readme.ts';

/** A service of an app, whose folder is the current one. */
export interface App {
  name: string;
  table: string;
  /** Path of the list of records. */
  list: string;
  /** Paths of other lists of them. */
  lists?: string[];
  /** Path of one record, where there is one. */
  one?: (id: number) => string;
  /** All writes: the first creates a record that holds the number, the others change or delete the record of this id. */
  writes: (number: number) => [create: Write, ...changes: Write[]];
  /** Body of each of their responses while the table is missing. */
  failure: object;
}

const main = 'dist/main.js';

/**
 * Declares the tests that an app uses what all services share: commands, settings, keys, tags, documents. What these do is tested in
 * libs/service, on a service of its own.
 */
export async function testSharedParts({ name, table, list, lists = [], one, writes, failure }: App) {
  const shared = await startShared(main);
  describe('Shared parts', () => {
    const { start } = shared;
    const reads = [list, ...lists, ...(one ? [one(1)] : [])];
    const write = ({ method, path, body }: Write, url = shared.url, headers = {}) =>
      sendJson(url, method, path, body, headers);
    const ask = (method: string, path: string, headers = {}) => sendJson(shared.url, method, path, undefined, headers);
    const isSuccess = ({ status }: { status: number }) => status === 200 || status === 201;

    test('`node main.js migrate` migrates, and the right to change rows is enough afterwards', async () => {
      const database = await createTestDatabase();
      const DATABASE_URL = database.url;
      const waiting = start({ DATABASE_URL, MIGRATE_ON_START: 'false' });
      const ready = async (url: string) => (await sendJson(url, 'GET', '/readyz')).body;
      const pending = expect.stringMatching(/^migrations pending: 0001_/);
      expect(await ready(await waiting.listening())).toEqual({ message: pending });
      expect((await start({ DATABASE_URL }, 'migrate').ended).code).toBe(0);

      await withRole(database, async (db, role, ofRole) => {
        await sql`grant select, insert, update, delete on all tables in schema public to ${role}`.execute(db);
        const limited = start({ DATABASE_URL: ofRole, MIGRATE_ON_START: 'false' });
        const url = await limited.listening();
        expect(await ready(url)).toEqual({ message: 'ready' });
        for (const turn of [1, 2])
          expect([turn, isSuccess(await write(writes(7)[0], url, { 'idempotency-key': 'key' }))]).toEqual([turn, true]);
        // Some HTTP clients send the header with each DELETE.
        const typed = { 'content-type': 'application/json' };
        for (const each of writes(1)) expect([each, isSuccess(await write(each, url, typed))]).toEqual([each, true]);
        expect((await send(url, list)).status).toBe(200);
        limited.child.kill('SIGTERM');
        await limited.ended;
      });
      waiting.child.kill('SIGKILL');
      await waiting.ended;
      await database.drop();
    });

    test('PORT has its default, on all interfaces', async () => {
      const { port } = services().find((each) => each.name === name)!;
      const service = start({ PORT: '', HOST: '' });
      const listens = service.logged(/^Server listening at/).then(({ msg }) => msg);
      // Where another program listens on the port, the error names it.
      const refused = service.ended.then(({ errors }) => errors);
      expect(await Promise.race([listens, refused])).toMatch(
        new RegExp(`^(Server listening at http://\\S+:${port}$|Port ${port} is taken: )`),
      );
    });

    test('a POST with an Idempotency-Key that is sent again gets the first response again', async () => {
      const key = { 'idempotency-key': 'key' };
      const first = await write(writes(1)[0], shared.url, key);
      expect(isSuccess(first)).toBe(true);
      expect(await write(writes(1)[0], shared.url, key)).toEqual(first);
      expect((await write(writes(2)[0], shared.url, key)).status).toBe(422);
    });

    test('HEAD of lists, records and probes has the length of GET', async () => {
      await write(writes(1)[0]);
      for (const path of [...reads, '/livez', '/readyz']) {
        const [get, head] = [await ask('GET', path), await ask('HEAD', path)];
        const length = get.headers.get('content-length');
        expect([path, head.status, head.headers.get('content-length')]).toEqual([path, 200, length]);
      }
    });

    test('If-None-Match with the ETag gets 304, each change whose precondition fails 412', async () => {
      await write(writes(1)[0]);
      for (const path of reads) {
        const { headers } = await ask('GET', path);
        const known = await ask('GET', path, { 'if-none-match': headers.get('etag')! });
        expect([path, known.status, known.body]).toEqual([path, 304, undefined]);
      }
      const before = (await ask('GET', list)).body;
      for (const change of writes(1).slice(1))
        for (const headers of [{ 'if-match': '"old"' }, { 'if-none-match': '*' }])
          expect([change, headers, (await write(change, shared.url, headers)).status]).toEqual([change, headers, 412]);
      expect((await ask('GET', list)).body).toEqual(before);
    });

    test('the Location of a 201 is the path of the new record', async () => {
      const { status, headers, body } = await write(writes(1)[0]);
      if (status === 201)
        expect(new URL(headers.get('location')!, shared.url + list).pathname).toBe(one!((body as { id: number }).id));
      else expect([status, headers.get('location')]).toEqual([200, null]);
    });

    test('a failure of the database is 500 on any operation', async () => {
      await sql`alter table ${sql.table(table)} rename to gone`.execute(shared.db);
      const failed = [];
      for (const path of reads) failed.push(await shared.request('GET', path));
      for (const { method, path, body } of writes(1)) failed.push(await shared.request(method, path, body));
      await sql`alter table gone rename to ${sql.table(table)}`.execute(shared.db);
      for (const { status, body } of failed) expect([status, body]).toEqual([500, failure]);
    });

    test('README: each curl line gets the response below it', () => expectReadme('README.md', shared.url));
    testAnyInput(shared, list, writes(1));
    testColumnValues(shared, list);
    testColumns(shared, table, list);
    testDocument(shared, name);
  });
}
