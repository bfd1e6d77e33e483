import { execFileSync } from 'node:child_process';
import { cpSync, globSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { startCluster } from '@rest-services/local-postgres';
import { parseConnectionUrl } from '@rest-services/database';
import { sendJson, startProcess } from '@rest-services/testing';
import pg from 'pg';
import { block, install, main } from './program.ts';

install('postgresql');

const docker = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'create-databases-'));
const cluster = await startCluster(join(folder, 'cluster'), { durable: false });
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

/** Runs the script as the container of PostgreSQL does, with secrets in a folder of this test. */
function createDatabases(secrets: Record<string, string>) {
  const directory = mkdtempSync(join(folder, 'secrets-'));
  for (const [service, url] of Object.entries(secrets))
    writeFileSync(join(directory, `${service}-database-url`), `${url}\n`);
  const script = readFileSync(join(docker, 'create-databases.sh'), 'utf8').replace('/run/secrets', directory);
  const { hostname, port, password } = new URL(cluster.url);
  const env = { PATH: process.env.PATH, PGHOST: hostname, PGPORT: port, PGPASSWORD: password };
  execFileSync('bash', ['-c', script], { env, stdio: 'pipe' });
}

test('create-databases.sh gives each role the password that its service reads, and a limit of connections', async () => {
  const { host } = new URL(cluster.url);
  const secrets = {
    notes: `postgres://notes:3f2a@${host}/notes`,
    'programming-languages': `postgresql://programming-languages:p%40ss%2Fw%25rd%27%22@${host}/programming-languages`,
    todos: `postgres://todo%20user:%C3%BC%5Cn:$x@${host}/to%20do?application_name=a@b`,
  };
  createDatabases(secrets);
  for (const url of Object.values(secrets)) {
    const config = parseConnectionUrl(url);
    const client = new pg.Client(config);
    await client.connect();
    const { rows } = await client.query(`
      select current_user as role, current_database() as database, rolconnlimit as limit
      from pg_roles where rolname = current_user`);
    await client.end();
    expect(rows).toEqual([{ role: config.user, database: config.database, limit: 25 }]);
  }
  const wrong = () => createDatabases({ notes: `postgres://notes:p/ss@${host}/notes` });
  expect(wrong).toThrow(/notes-database-url must hold .* percent-encoded/);
});

test('with the fewest rights of kubernetes/README.md, a service migrates, reads and writes', async () => {
  const statements = block('kubernetes/README.md', 'sql\ncreate role items_owner');
  execFileSync('psql', ['--quiet', '--set=ON_ERROR_STOP=1', cluster.url], { input: statements });
  const { host } = new URL(cluster.url);
  const of = (user: string) => `postgres://${user}@${host}/items`;
  const urls = { DATABASE_URL: of('items:PASSWORD'), DATABASE_MIGRATION_URL: of('items_owner:OWNER_PASSWORD') };
  expect(await startProcess(main, urls, 'migrate').ended).toEqual({ code: 0, errors: '' });
  const service = startProcess(main, { DATABASE_URL: urls.DATABASE_URL, MIGRATE_ON_START: 'false' });
  const url = await service.listening();
  const title = 'Buy milk';
  expect((await sendJson(url, 'POST', '/v1/items', { title })).status).toBe(201);
  expect((await sendJson(url, 'PUT', '/v1/items/1', { title })).status).toBe(200);
  for (const path of ['/v1/items', '/readyz']) expect((await sendJson(url, 'GET', path)).status).toBe(200);
  service.child.kill('SIGTERM');
  await service.ended;
});

test('create-secrets.sh makes readable to all what containers mount, from a clone under umask 077', () => {
  const copy = join(folder, 'docker');
  cpSync(docker, copy, { recursive: true, filter: (file) => !/node_modules|\/secrets$/.test(file) });
  execFileSync('chmod', ['-R', 'go=', copy]);
  execFileSync('sh', ['-c', 'umask 077; exec docker/create-secrets.sh'], { cwd: folder });
  const mounts = readFileSync(join(copy, 'compose.yaml'), 'utf8').matchAll(/- \.\/(\S+?):/g);
  const files = [...Array.from(mounts, ([, file]) => file!), ...globSync('secrets/*', { cwd: copy })];
  expect(files.length).toBeGreaterThan(8);
  for (const file of files) expect([file, lstatSync(join(copy, file)).mode & 0o444]).toEqual([file, 0o444]);
  expect(lstatSync(join(copy, 'secrets')).mode & 0o777).toBe(0o700);
});
