import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { openTestConnection } from '@rest-services/testing';
import { sql } from 'kysely';
import { createNote, notes } from '../test/process/notes-process.ts';

// Clients, statements, readers of the log and processes that stall, each until a time limit.

test('SIGTERM closes connections without a request and with half a request', async () => {
  const service = notes.start({});
  const { port } = new URL(await service.listening());
  const silent = connect(Number(port), '127.0.0.1');
  const halfSent = connect(Number(port), '127.0.0.1');
  await Promise.all([once(silent, 'connect'), once(halfSent, 'connect')]);
  halfSent.write('GET /notes HTTP/1.1\r\nHost:');
  await fetch(`http://127.0.0.1:${port}/livez`);
  const signalledAt = performance.now();
  service.child.kill('SIGTERM');
  await once(silent.resume(), 'close');
  // Without a signal, the service would close it after 5 s.
  expect(performance.now() - signalledAt).toBeLessThan(4_500);
  expect((await service.ended).code).toBe(0);
  halfSent.destroy();
});

test('values of requests are not in the log when PostgreSQL quotes them in an error', async () => {
  const db = openTestConnection(notes.database.url);
  const name = sql.id(new URL(notes.database.url).pathname.slice(1));
  await sql`alter database ${name} set log_parameter_max_length_on_error = -1`.execute(db);
  const service = notes.start({ DATABASE_POOL_MAX: '1' });
  const url = await service.listening();
  // PostgreSQL logs no values while it prepares a statement.
  await createNote(url);
  const inTheWay = await db.startTransaction().execute();
  await sql`lock table note in share mode`.execute(inTheWay);
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"title":"s3cret"}' };
  const { status } = await fetch(`${url}/notes`, init);
  await inTheWay.rollback().execute();
  await db.destroy();
  // On a busy machine, the timeout of the service may precede that of the server.
  const codes = ['57014', 'ETIMEDOUT'];
  const { err } = await service.logged(({ err }) => codes.includes((err as { code?: string } | undefined)?.code ?? ''));
  expect(status).toBe((err as { code: string }).code === '57014' ? 503 : 500);
  expect(err).not.toHaveProperty('where');
  expect(JSON.stringify(service.log)).not.toContain('s3cret');
});

test('DATABASE_MIGRATION_URL of the same database: statements have timeouts', async () => {
  const service = notes.start({ DATABASE_MIGRATION_URL: notes.database.url });
  const url = await service.listening();
  const db = openTestConnection(notes.database.url);
  await db.transaction().execute(async (transaction) => {
    await sql`lock table note`.execute(transaction);
    expect((await fetch(`${url}/notes/1`)).status).toBe(503);
    await service.logged(({ err }) => (err as { code?: string } | undefined)?.code === '57014');
  });
  await db.destroy();
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all!.some(({ family }) => family === 'IPv6'));

describe('`node main.js health`', () => {
  test.each(['', '0.0.0.0', ...(hasIpv6 ? ['::', '::1'] : [])])(
    'exits with 0 while the service responds on HOST=%s, and with 1 otherwise',
    async (HOST) => {
      const service = notes.start({ HOST });
      const { port } = new URL(await service.listening());
      const health = () => notes.start({ HOST, PORT: port }, 'health').ended;
      expect(await health()).toEqual({ code: 0, errors: '' });
      service.child.kill('SIGSTOP');
      expect(await health()).toEqual({ code: 1, errors: '' });
    },
  );
});
