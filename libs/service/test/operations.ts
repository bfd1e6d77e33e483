import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, freePort, startCluster, type TestDatabase } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { hang } from './hang.ts';
import { load, send, type Write } from './load.ts';
import { patientDatabase } from './patient-database.ts';
import { startProcess } from './process.ts';
import { withRole } from './role.ts';

/** A service as its operators see it. */
export interface Operated {
  name: string;
  /** Path of its main.ts. */
  main: string;
  defaultPort: number;
  /** A list that any caller may read, and its route template. */
  list: string;
  /** The body of a POST to `list` that creates a record. */
  record: object;
  firstMigration: string;
  /** Every way to write, given a number: what creates a record that holds it comes first, then what changes the record of this id. */
  writes: (number: number) => [Write, ...Write[]];
  /** The contract's 500, with `expect.any(String)` for a code. */
  failure: object;
}

/** What no service answers when it has done what it was asked for. */
const succeeded: unknown = expect.not.stringContaining('Error');

/** Within which a request is answered, whatever the database does. */
const ANSWER_LIMIT_MS = 3_000;

/** Declares the tests of what operators rely on in every service: it runs as a process of its own, stopped by signals. */
export function testOperations({ name, main, defaultPort, list, record, firstMigration, writes, failure }: Operated) {
  let database: TestDatabase;
  const started: ReturnType<typeof startProcess>[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    started.forEach(({ child }) => child.kill('SIGKILL'));
    await Promise.all(started.splice(0).map(({ ended }) => ended));
    await database.drop();
  });

  function start(environment: NodeJS.ProcessEnv = {}, ...args: string[]) {
    const service = startProcess(main, { DATABASE_URL: database.url, ...environment }, ...args);
    started.push(service);
    return service;
  }
  const create = (url: string) =>
    fetch(url + list, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(record),
    });
  /** The records of the ids 1 and 2. */
  const createTwo = async (url: string) => {
    for (const number of [101, 102]) expect(await send(url, writes(number)[0])).toMatchObject({ body: succeeded });
  };
  const changeTheSecond = async (url: string) => {
    for (const write of writes(2)) {
      const { status, body } = await send(url, write);
      expect([write.method, write.path, status! < 300, body]).toEqual([write.method, write.path, true, succeeded]);
    }
  };
  const answer = async (url: string) => {
    const response = await fetch(url);
    return [response.status, await response.json()];
  };

  describe('Settings', () => {
    test(`PORT is ${defaultPort} and HOST is 0.0.0.0 unless they are set`, async () => {
      // The port may be taken on the machine that runs the tests; then the refusal names it.
      const service = start({ PORT: '', HOST: '' });
      const listens = service.logged(/^Server listening at/).then(({ msg }) => msg);
      const refused = service.ended.then(({ errors }) => errors);
      expect(await Promise.race([listens, refused])).toMatch(
        new RegExp(
          `^(Server listening at http://[^:]+:${defaultPort}$|Port ${defaultPort} is taken on 0\\.0\\.0\\.0:)`,
        ),
      );
    });

    test('DATABASE_URL has no default: without it the service refuses to start', async () => {
      const { code, errors } = await start({ DATABASE_URL: '' }).ended;
      expect([code, errors]).toEqual([1, expect.stringMatching(/^DATABASE_URL must be set, [^\n]+\n$/)]);
    });

    test('MIGRATE_ON_START false: `node main.js migrate` has been run as a job, or /readyz says that it has not', async () => {
      const service = start({ MIGRATE_ON_START: 'false' });
      const url = await service.listening();
      expect(await answer(`${url}/readyz`)).toEqual([
        503,
        { message: expect.stringContaining('migrations pending: ') },
      ]);
      expect(await answer(`${url}/readyz`)).toEqual([503, { message: expect.stringContaining(firstMigration) }]);
      const job = start({}, 'migrate');
      expect((await job.ended).code).toBe(0);
      expect(await answer(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
      const applied = job.log.filter(({ msg }) => msg === 'Migration applied');
      expect(applied[0]).toMatchObject({
        level: 30,
        migration: expect.stringContaining(firstMigration),
        ms: expect.any(Number),
      });
      expect(applied).toHaveLength(new Set(applied.map(({ migration }) => migration)).size);
    });

    test('MIGRATE_ON_START false: a role that may change rows, and nothing else, answers every request', async () => {
      expect((await start({}, 'migrate').ended).code).toBe(0);
      await withRole(database, async (db, role, DATABASE_URL) => {
        await sql`grant select, insert, update, delete on all tables in schema public to ${role}`.execute(db);
        const url = await start({ DATABASE_URL, MIGRATE_ON_START: 'false' }).listening();
        expect(await answer(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
        await createTwo(url);
        expect((await send(url, list)).status).toBe(200);
        await changeTheSecond(url);
      });
    });

    test('DATABASE_URL holds a password: neither the log nor stderr ever shows it, when it is wrong or nothing answers there', async () => {
      const url = new URL(database.url);
      // Held by the settings in one form and sent to the server in another.
      url.password = 'pa55word%24';
      const refused = start({ DATABASE_URL: url.href, LOG_LEVEL: 'trace' });
      url.port = `${await freePort()}`;
      const unanswered = start({ DATABASE_URL: url.href, LOG_LEVEL: 'trace' });
      const migrating = start({ DATABASE_MIGRATION_URL: url.href, LOG_LEVEL: 'trace' }, 'migrate');
      for (const service of [unanswered, migrating]) {
        await service.logged(/^database is not up yet/);
        service.child.kill('SIGTERM');
      }
      for (const { ended, log } of [refused, unanswered, migrating]) {
        const { errors } = await ended;
        expect(log).not.toEqual([]);
        expect(JSON.stringify(log) + errors).not.toContain('pa55word');
      }
      expect(await refused.ended).toEqual({ code: 1, errors: '' });
    });
  });

  describe('Endpoints', () => {
    test('/livez answers 200 and /readyz 200 when the service should get traffic, also in production mode to a browser', async () => {
      const url = await start({ NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' }).listening();
      for (const path of ['/livez', '/readyz', '/openapi.json']) {
        const { status, headers } = await fetch(url + path, { headers: { accept: 'text/html' } });
        expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'application/json; charset=utf-8']);
      }
      expect(await (await fetch(`${url}/docs`)).text()).toContain('swagger-ui');
    });

    test('/readyz and /metrics answer 200 to all who ask at once, and so do lists', async () => {
      const url = await start().listening();
      const paths = ['/readyz', '/metrics', list];
      const statuses = (asked: string[]) => Promise.all(asked.map(async (path) => (await send(url, path)).status));
      // On a busy machine, to connect to the database takes its time.
      expect(await statuses(paths)).toEqual([200, 200, 200]);
      const many = await statuses(paths.flatMap((path) => Array.from({ length: 120 }, () => path)));
      expect(new Set(many)).toEqual(new Set([200]));
    });

    test('`node main.js health` ends with 0 while the service is alive, and with 1 otherwise', async () => {
      const url = await start().listening();
      const { port } = new URL(url);
      expect((await start({ PORT: port }, 'health').ended).code).toBe(0);
      expect((await start({ PORT: `${await freePort()}` }, 'health').ended).code).toBe(1);
      // It loads nothing of what the service needs, such as the other settings.
      expect(await start({ PORT: port, DATABASE_URL: '' }, 'health').ended).toEqual({ code: 0, errors: '' });
    });

    test('a path that is too long is refused with 431, whatever header size NODE_OPTIONS allows', async () => {
      const url = await start({ NODE_OPTIONS: '--max-http-header-size=65536' }).listening();
      for (const path of [`/${'1'.repeat(20_000)}`, `${list}/${'1'.repeat(20_000)}`]) {
        expect(await answer(url + path)).toEqual([431, { message: 'The URL and the headers are too long' }]);
      }
      expect(await answer(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
    });

    test('/metrics counts and times requests by route template, method and status, and shows pool and process', async () => {
      const url = await start({ NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '0' }).listening();
      expect((await create(url)).ok).toBe(true);
      await fetch(url + list);
      await fetch(`${url}/nowhere/${Math.random()}`, { method: 'DELETE' });
      await fetch(`${url}/docs`);
      const response = await fetch(`${url}/metrics`, { headers: { accept: 'text/html' } });
      expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      const lines = (await response.text()).split('\n');
      const value = (name: string, ...labels: string[]) =>
        Number(
          lines
            .find((line) => line.startsWith(name) && labels.every((label) => line.includes(label)))
            ?.split(' ')
            .pop(),
        );
      const route = (template: string) => `route="${template}"`;
      const count = 'http_request_duration_seconds_count';
      expect(value(count, 'method="POST"', route(list), 'status="20')).toBe(1);
      expect(value(count, 'method="GET"', route(list), 'status="200"')).toBe(1);
      expect(value(count, 'method="DELETE"', route('none'), 'status="404"')).toBe(1);
      expect(value('http_request_duration_seconds_bucket', route(list), 'le="10"')).toBe(1);
      expect(value('http_request_duration_seconds_sum', 'method="GET"', route(list))).toBeGreaterThan(0);
      expect(value('database_pool_connections', 'state="idle"')).toBeGreaterThanOrEqual(1);
      expect(value('database_pool_connections', 'state="in_use"')).toBe(0);
      expect(value('database_pool_connections', 'state="waiting"')).toBe(0);
      expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
      expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    });

    test('/metrics tells service, version, revision and Node.js version, and names as _total only counters', async () => {
      const url = await start({ SERVICE_VERSION: '1.2.3', SERVICE_REVISION: 'abc' }).listening();
      const metrics = await (await fetch(`${url}/metrics`)).text();
      const labels = `service="${name}",version="1.2.3",revision="abc",node_version="${process.version}"`;
      expect(metrics).toContain(`\nservice_build_info{${labels}} 1\n`);
      const totals = [...metrics.matchAll(/^# TYPE \S+_total (\w+)$/gm)].map(([, type]) => type);
      expect(new Set(totals)).toEqual(new Set(['counter']));
    });

    test('PostgreSQL shows the name of the service for its sessions, unless DATABASE_URL says another', async () => {
      const sessions = async (query: string) => {
        const DATABASE_URL = database.url + query;
        const service = start({ DATABASE_URL });
        const url = await service.listening();
        for (const path of ['/readyz', list]) expect((await send(url, path)).status).toBe(200);
        const db = patientDatabase(database.url);
        const { rows } = await sql<{ name: string }>`
          select application_name as name from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
        await db.destroy();
        service.child.kill('SIGTERM');
        await service.ended;
        return new Set(rows.map((row) => row.name));
      };
      expect(await sessions('')).toEqual(new Set([name]));
      expect(await sessions('?application_name=other')).toEqual(new Set(['other']));
    });
  });

  describe('Life of a process', () => {
    test.each(['SIGTERM', 'SIGINT'] as const)(
      '%s: /readyz turns 503 at once, after SHUTDOWN_DELAY_MS the listener closes, in-flight requests are finished, exit 0',
      async (signal) => {
        const service = start({ SHUTDOWN_DELAY_MS: '500' });
        const url = await service.listening();
        await create(url);
        const traffic = load(url, [list], 8);
        await traffic.until(({ status }) => status === 200, 50);
        const signalledAt = performance.now();
        const listened = traffic
          .until(({ failure }) => failure === 'ECONNREFUSED')
          .then(() => performance.now() - signalledAt);
        service.child.kill(signal);
        await service.logged(/^draining/);
        expect(await answer(`${url}/readyz`)).toEqual([503, { message: 'draining' }]);
        expect(await service.ended).toEqual({ code: 0, errors: '' });
        const outcomes = await traffic.refused();
        expect(await listened).toBeGreaterThan(400);
        // A connection that the kernel had taken, but not yet the process, is reset when the port closes.
        const isLost = ({ failure, isReused }: (typeof outcomes)[number]) =>
          failure !== undefined && (isReused || !['ECONNREFUSED', 'ECONNRESET'].includes(failure));
        expect(outcomes.filter(isLost)).toEqual([]);
        // A busy machine may be overloaded at any time.
        const isOverloaded = ({ retryAfter }: (typeof outcomes)[number]) => retryAfter === '1';
        expect(outcomes.filter((each) => (each.status ?? 200) !== 200 && !isOverloaded(each))).toEqual([]);
      },
    );

    test('The database goes away: while it hangs, writes answer the contract’s 500 within 3 s, and succeed afterwards with no restart', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'hanging-postgres-'));
      const cluster = await startCluster(directory, { durable: false });
      let goOn: (() => void) | undefined;
      try {
        const service = start({ DATABASE_URL: cluster.url });
        const url = await service.listening();
        await createTwo(url);
        // As many connections as there may be, so that the first writes find one.
        await Promise.all(Array.from({ length: 20 }, () => send(url, list)));

        goOn = await hang(cluster);
        const hanging = Array.from({ length: 5 }, () => writes(1)).flat();
        const outcomes = await Promise.all(hanging.map((write) => send(url, write)));
        for (const [index, { status, body = 'null', ms }] of outcomes.entries()) {
          const { method, path } = hanging[index]!;
          expect([method, path, status, JSON.parse(body), ms < ANSWER_LIMIT_MS]).toEqual([
            method,
            path,
            500,
            failure,
            true,
          ]);
        }
        expect(await answer(`${url}/livez`)).toEqual([200, { message: 'alive' }]);
        expect(await answer(`${url}/readyz`)).toEqual([503, { message: 'database unreachable' }]);

        goOn();
        await changeTheSecond(url);
        expect(await answer(`${url}/readyz`)).toEqual([200, { message: 'ready' }]);
        expect(JSON.stringify(service.log)).not.toContain(new URL(cluster.url).password);
      } finally {
        goOn?.();
        await cluster.stop();
        await rm(directory, { recursive: true, force: true });
      }
    });

    test('the log is one JSON line per request to stdout with reqId, taken from x-request-id and echoed, no bodies, no secrets', async () => {
      const service = start();
      const url = await service.listening();
      const headers = {
        'content-type': 'application/json',
        'x-request-id': 'call-7',
        authorization: 'Bearer s3cret',
        cookie: 'session=s3cret',
      };
      const body = '{"title":"s3cret","description":"s3cret","name":"s3cret","released_year":2010}';
      const response = await fetch(url + list, { method: 'POST', headers, body });
      expect(response.ok).toBe(true);
      expect(response.headers.get('x-request-id')).toBe('call-7');
      await service.logged(/^request$/);
      service.child.kill('SIGTERM');
      await service.ended;
      expect(service.log.filter(({ msg }) => msg === 'request')).toEqual([
        expect.objectContaining({ reqId: 'call-7', method: 'POST', url: list, status: response.status }),
      ]);
      expect(JSON.stringify(service.log)).not.toContain('s3cret');
      expect(JSON.stringify(service.log)).not.toContain(new URL(database.url).password);
    });
  });
}
