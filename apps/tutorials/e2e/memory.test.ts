import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { memoryOf, startService } from '@rest-services/testing';
import { sql } from 'kysely';

const count = 100;
const description = 'x'.repeat(1_000_000);

// Less than what the descriptions take together.
const service = await startService('dist/main.js', { NODE_OPTIONS: '--max-old-space-size=64' });
const url = `${service.url}/api/tutorials`;
await sql`insert into tutorial (title, description, published)
  select 'Long ' || n, ${description}, true from generate_series(1, ${sql.lit(count)}) n`.execute(service.db);

const lists = ['', '/published', '?title=long'];
test.each(lists)('A list (%s) of 100 descriptions of 1 MB is complete, and not held in memory', async (list) => {
  const tutorials = (await (await fetch(url + list)).json()) as { id: number; description: string }[];
  expect(tutorials.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  expect(tutorials.every((tutorial) => tutorial.description === description)).toBe(true);
});

test.each(['identity', 'gzip'])('400 unread lists (%s) take no more memory than a container has', async (coding) => {
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
      await fetch(new URL('/livez', url));
      expect(await memoryOf(service.child)).toBeLessThan(256 * 1_024 ** 2);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
