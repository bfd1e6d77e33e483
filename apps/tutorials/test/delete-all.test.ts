import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { startService } from '@rest-services/testing';
import { sql } from 'kysely';
import type { TutorialsDatabase } from '../src/database.ts';

// DELETE /api/tutorials

const service = await startService<TutorialsDatabase>('dist/main.js');
afterAll(() => service.stop());
beforeEach(() => service.db.deleteFrom('tutorial').execute());

const send = (...args: Parameters<typeof service.request>) => service.request(...args);
const stored = () => service.db.selectFrom('tutorial').selectAll().execute();
const removed = (count: number) =>
  expect.objectContaining({ status: 200, body: { message: `${count} Tutorials were deleted successfully!` } });

const create = () => send('POST', '/api/tutorials', { title: 'a' });

test('The message says how many have been removed, whatever the query, and no id comes back', async () => {
  await create();
  await send('POST', '/api/tutorials', { title: 'b', published: true });
  const ids = (await stored()).map(({ id }) => id);
  expect(await send('DELETE', '/api/tutorials?title=a')).toEqual(removed(2));
  expect(await send('DELETE', '/api/tutorials')).toEqual(removed(0));
  await create();
  expect((await stored())[0]!.id).toBeGreaterThan(Math.max(...ids));
});

test('All are removed while somebody reads the table for long, as a backup does', async () => {
  await create();
  await service.db.transaction().execute(async (backup) => {
    await backup.selectFrom('tutorial').select('id').execute();
    expect(await send('DELETE', '/api/tutorials')).toEqual(removed(1));
  });
  expect(await stored()).toEqual([]);
});

test('Twenty that wait for a locked table leave connections to readers', async () => {
  await create();
  let deletions: Promise<unknown>[] = [];
  await service.db.transaction().execute(async (locking) => {
    await sql`lock table tutorial in share mode`.execute(locking);
    deletions = Array.from({ length: 20 }, () => send('DELETE', '/api/tutorials'));
    const waiting = sql`select from pg_locks where relation = 'tutorial'::regclass and not granted`;
    while ((await waiting.execute(locking)).rows.length === 0);
    for (let turn = 0; turn < 20; turn += 1) expect(await stored()).toHaveLength(1);
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(Number(/^database_pool_connections\{state="in_use"\} (\d+)$/m.exec(text)![1])).toBeLessThanOrEqual(3);
  });
  await Promise.all(deletions);
});

test('All are removed while others change some of them', async () => {
  const count = 20_000;
  for (let turn = 0; turn < 5; turn += 1) {
    await sql`insert into tutorial (title) select 'a' from generate_series(1, ${sql.lit(count)})`.execute(service.db);
    const [first, second] = await service.db.selectFrom('tutorial').select('id').limit(2).execute();
    const removal = send('DELETE', '/api/tutorials');
    const change = ({ id }: { id: number }) => send('PUT', `/api/tutorials/${id}`, { title: 'b' });
    const over = removal.then(() => []);
    while ((await Promise.race([over, Promise.all([change(first!), change(second!)])])).length > 0);
    expect(await removal).toEqual(removed(count));
  }
});

test('Each tutorial is counted once while others create, read and remove', async () => {
  const turn = () => [create(), send('GET', '/api/tutorials'), create(), create(), send('DELETE', '/api/tutorials')];
  const answers = await Promise.all(Array.from({ length: 10 }, turn).flat());
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
  const counts = answers.flatMap(({ body }) => Number.parseInt((body as { message?: string }).message ?? '0', 10));
  expect(counts.reduce((sum, count) => sum + count, (await stored()).length)).toBe(30);
});
