import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { createTestDatabase } from '@rest-services/local-postgres';
import pg from 'pg';
import { isPoolTimeout, withErrorCode } from '../src/connection/errors.ts';

// The driver gives these errors no code, so they are told apart by its messages: a new version may word them otherwise.

/** A server that accepts connections and says nothing, or sends `response`. */
async function start(response?: string | Buffer) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    if (response !== undefined) socket.once('data', () => socket.write(response));
  })
    .listen(0, '127.0.0.1')
    .unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function errorOf(config: pg.ClientConfig) {
  const client = new pg.Client({ host: '127.0.0.1', user: 'items', ...config });
  const error: unknown = await client.connect().catch((error: unknown) => error);
  void client.end();
  return withErrorCode(error);
}

test('A server that does not speak TLS refuses the login', async () => {
  const port = await start('N');
  expect(await errorOf({ port, ssl: true })).toMatchObject({ code: '28000' });
});

test('A password that is asked for and not given refuses the login', async () => {
  const database = await createTestDatabase();
  const { hostname, port, username, pathname } = new URL(database.url);
  const target = { host: hostname, port: Number(port), user: username, database: pathname.slice(1) };
  expect(await errorOf(target)).toMatchObject({ code: '28000' });
  await database.drop();
});

test('A server that does not respond to a new connection is a timeout', async () => {
  const port = await start();
  const error = await errorOf({ port, connectionTimeoutMillis: 50 });
  expect(error).toMatchObject({ code: 'ETIMEDOUT' });
  expect(isPoolTimeout(error)).toBe(true);
});

test('A connection of the pool that is not ready in time is a timeout, and so is a wait for one that is in use', async () => {
  const port = await start();
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'items', max: 1, connectionTimeoutMillis: 50 });
  const [connecting, waiting] = await Promise.allSettled([pool.connect(), pool.connect()]);
  const reasons = [connecting, waiting].map(
    (outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined) as unknown,
  );
  expect(reasons.map(isPoolTimeout)).toEqual([true, true]);
  expect(reasons.map((reason) => withErrorCode(reason).code)).toEqual(['ETIMEDOUT', 'ETIMEDOUT']);
  await pool.end();
});
