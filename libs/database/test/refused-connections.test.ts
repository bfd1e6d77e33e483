import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import { database, open } from './open-database.ts';

/** Messages by which a server accepts a login, and is ready. */
const LOGGED_IN = 'R\0\0\0\b\0\0\0\0Z\0\0\0\u0005I';

/**
 * Opens a way to the server on which `refuse` makes each further connection fail with a code: a SQLSTATE, or ECONNRESET.
 * `ended` says which side has ended a connection first. @param before messages that precede a refusal
 */
async function openWay(code: string, before = '') {
  const { hostname, port } = new URL(database.url);
  const fatal = Buffer.from(`E....SFATAL\0C${code}\0Mrefused\0\0`);
  fatal.writeInt32BE(fatal.length - 1, 1);
  const refusal = before + fatal.toString();
  let isRefusing = false;
  const ended = Promise.withResolvers<'client' | 'server'>();
  const proxy = createServer((client) => {
    const server = isRefusing ? undefined : connect(Number(port), hostname);
    for (const socket of [client, server]) socket?.on('error', () => undefined);
    client.once('end', () => ended.resolve('client'));
    server?.once('end', () => ended.resolve('server'));
    if (server) client.pipe(server).pipe(client);
    else client.once('data', () => (code === 'ECONNRESET' ? client.resetAndDestroy() : client.end(refusal)));
  }).listen(0, '127.0.0.1');
  await once(proxy.unref(), 'listening');
  const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    url: Object.assign(new URL(database.url), { host }).href,
    refuse: () => (isRefusing = true),
    ended: ended.promise,
  };
}

test('A connection whose login fails is closed, for which the server would wait a minute', async () => {
  const { url, ended } = await openWay('');
  await expect(
    sql`select 1`.execute(open({ url: Object.assign(new URL(url), { password: '' }).href })),
  ).rejects.toThrow();
  expect(await ended).toBe('client');
});

test('A session that the server ends in the moment of its login fails one request, and no more', async () => {
  const { url, refuse } = await openWay('57P01', LOGGED_IN);
  refuse();
  const db = open({ url });
  for (let turn = 0; turn < 2; turn += 1) await expect(sql`select 1`.execute(db)).rejects.toThrow();
});

const refusals = ['53300', '57P03', 'ECONNRESET'];
test.each(refusals)('While further connections are refused with %s, requests wait for one in use', async (code) => {
  const { url, refuse } = await openWay(code);
  const events: unknown[] = [];
  const onConnectionError = (error: Error, _server: unknown, event: string) => events.push([event, error]);
  const db = open({ url, poolMax: 2, onConnectionError });
  const request = () =>
    sql`select 1`.execute(db).then(
      () => 'done',
      (error: unknown) => (error instanceof OverloadedError ? 503 : error),
    );
  const begin = () => db.kysely.startTransaction().execute();
  let held = await begin().catch(begin);
  refuse();
  expect(await request()).toBe(503);
  expect(events).toEqual([['database connection refused', expect.objectContaining({ code })]]);

  let outcome: unknown = 503;
  // On a busy machine, a request may have waited for too long.
  while (outcome === 503) {
    const waiting = request();
    const settled = waiting.then(() => true);
    while (db.poolUse.waiting === 0 && !(await Promise.race([settled, setImmediate(false)])));
    await held.rollback().execute();
    outcome = await waiting;
    held = await begin().catch(begin);
  }
  expect(outcome).toBe('done');
  await held.rollback().execute();

  await expect(sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)).rejects.toThrow();
  expect(await request()).toMatchObject({ code });
});
