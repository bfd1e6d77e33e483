import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { isPoolTimeout, withErrorCode } from '../src/connection/errors.ts';
import { database } from './open-database.ts';

// The driver gives these errors no code, so they are told apart by its messages: a new version may word them otherwise.

/** The port of a server that accepts connections and says nothing, or sends `response`. */
async function portOf(response?: string) {
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
  expect(await errorOf({ port: await portOf('N'), ssl: true })).toMatchObject({ code: '28000' });
});

test('A password that is asked for and not given refuses the login', async () => {
  const { href } = Object.assign(new URL(database.url), { password: '' });
  expect(await errorOf({ connectionString: href })).toMatchObject({ code: '28000' });
});

test('A server that does not respond to a new connection is a timeout', async () => {
  const error = await errorOf({ port: await portOf(), connectionTimeoutMillis: 50 });
  expect([error.code, isPoolTimeout(error)]).toEqual(['ETIMEDOUT', true]);
});

test('A connection of the pool that is not ready in time is a timeout, and so is a wait for one that is in use', async () => {
  const port = await portOf();
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'items', max: 1, connectionTimeoutMillis: 50 });
  const attempts = [pool.connect(), pool.connect()].map((attempt) => attempt.catch((error: unknown) => error));
  for (const error of await Promise.all(attempts))
    expect([isPoolTimeout(error), withErrorCode(error).code]).toEqual([true, 'ETIMEDOUT']);
  await pool.end();
});
