import dns from 'node:dns';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { OverloadedError } from '@rest-services/errors';
import { sql } from 'kysely';
import { database, open } from './open-database.ts';

/** A way to the server on which `refuse` makes each further connection fail with an error code. */
type Way = (code: string) => Promise<{ url: string; refuse: () => void }>;

/** The server responds to the start of a session. */
const refusedByServer: Way = async (code) => {
  const { hostname, port } = new URL(database.url);
  const refusal = Buffer.from(`E....SFATAL\0C${code}\0Mrefused\0\0`);
  refusal.writeInt32BE(refusal.length - 1, 1);
  let isRefusing = false;
  const proxy = createServer((client) => {
    const server = isRefusing ? undefined : connect(Number(port), hostname);
    for (const socket of [client, server]) socket?.on('error', () => undefined);
    if (server) client.pipe(server).pipe(client);
    else client.once('data', () => client.end(refusal));
  }).listen(0, '127.0.0.1');
  await once(proxy.unref(), 'listening');
  const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return { url: Object.assign(new URL(database.url), { host }).href, refuse: () => (isRefusing = true) };
};

/** The system opens no socket. */
const refusedBySystem: Way = (code) => {
  const refuse = (...[, , done]: [string, object, (error: Error) => void]) =>
    done(Object.assign(new Error('No socket can be opened'), { code }));
  return Promise.resolve({
    url: Object.assign(new URL(database.url), { hostname: 'localhost' }).href,
    refuse: () => jest.spyOn(dns, 'lookup').mockImplementation(refuse as unknown as typeof dns.lookup),
  });
};

test.each([
  ['53300', refusedByServer],
  ['57P03', refusedByServer],
  ['EMFILE', refusedBySystem],
])('While further connections are refused with %s, requests wait for one of those in use', async (code, openWay) => {
  const { url, refuse } = await openWay(code);
  const events: unknown[] = [];
  const onConnectionError = (error: Error, _server: unknown, event: string) => events.push([event, error]);
  const db = open({ url, poolMax: 2, onConnectionError });
  const request = () =>
    sql`select 1`.execute(db).then(
      () => 'done',
      (error: unknown) => (error instanceof OverloadedError ? 503 : error),
    );
  let held = await db.kysely.startTransaction().execute();
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
    held = await db.kysely.startTransaction().execute();
  }
  expect(outcome).toBe('done');
  await held.rollback().execute();

  await expect(sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)).rejects.toThrow();
  expect(await request()).toMatchObject({ code });
  jest.restoreAllMocks();
});
