import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@rest-services/local-postgres';
import { createMigratedDatabase, openTestConnection, startProcess } from '@rest-services/testing';
import { sql } from 'kysely';

const main = 'dist/main.js';
const count = 100;
const description = 'x'.repeat(1_000_000);

let database: TestDatabase;
let service: ReturnType<typeof startProcess>;
let url: string;
beforeAll(async () => {
  database = await createMigratedDatabase(main);
  // Less than what the descriptions take together.
  service = startProcess(main, { DATABASE_URL: database.url, NODE_OPTIONS: '--max-old-space-size=64' });
  url = `${await service.listening()}/api/tutorials`;
  const db = openTestConnection(database.url);
  await sql`insert into tutorial (title, description, published)
    select 'Long ' || n, ${description}, true from generate_series(1, ${sql.lit(count)}) n`.execute(db);
  await db.destroy();
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  await database.drop();
});

test.each(['', '/published', '?title=long'])(
  'A list (%s) of 100 tutorials with a megabyte of description each is complete, and the memory does not hold it',
  async (list) => {
    const tutorials = (await (await fetch(url + list)).json()) as { id: number; description: string }[];
    expect(tutorials.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    expect(tutorials.every((tutorial) => tutorial.description === description)).toBe(true);
    expect(service.child.exitCode).toBeNull();
  },
);

test.each(['identity', 'gzip'])(
  '400 lists that are not read (%s) take no more memory than a container has',
  async (coding) => {
    const { hostname, port, pathname } = new URL(url);
    const sockets = Array.from({ length: 400 }, () => connect(Number(port), hostname));
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      const begun = sockets.map((socket) => once(socket, 'readable'));
      for (const socket of sockets)
        socket.write(`GET ${pathname}?title=long HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${coding}\r\n\r\n`);
      await Promise.all(begun);
      const statuses = sockets.map((socket) => String(socket.read()).split(' ')[1]);
      expect(['200', '503']).toEqual(expect.arrayContaining(statuses));
      expect(statuses).toContain('200');
      // Lists that have started continue.
      for (let turn = 0; turn < 20; turn += 1) {
        const metrics = await (await fetch(new URL('/metrics', url))).text();
        expect(Number(/^process_resident_memory_bytes (.*)$/m.exec(metrics)![1])).toBeLessThan(256 * 1_024 ** 2);
      }
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
);

test('60 concurrent reads of one each get it, with retries', async () => {
  const logged = service.log.length;
  const ids = Array.from({ length: 60 }, (_, index) => index + 1);
  const tutorials = await Promise.all(ids.map(read));
  expect(service.log.slice(logged).filter(({ err }) => err)).toEqual([]);
  expect(tutorials).toEqual(ids.map((id) => ({ id, title: `Long ${id}`, description, published: true })));
});

/** Retries: 60 at once are more than the service's memory for responses, so that some get 503. */
async function read(id: number): Promise<unknown> {
  const response = await fetch(`${url}/${id}`);
  const body: unknown = await response.json();
  return response.status === 503 ? read(id) : body;
}
