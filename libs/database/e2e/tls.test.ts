import { chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startCluster } from '@rest-services/local-postgres';
import { sql } from 'kysely';
import { open, openPatient } from '../test/open-database.ts';

// The files of `certificates`: a private authority, a certificate of it for the host localhost, and one for the user certified, whose
// key is encrypted. All are valid from 2020 to 2119.

const certificate = (name: string) => join(import.meta.dirname, 'certificates', name);

const folder = await mkdtemp(join(tmpdir(), 'tls-'));
const server = await startCluster(folder, { durable: false });
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

/** A file that the server reads. */
async function giveToServer(name: string, content: string) {
  const data = join(folder, 'data');
  const path = join(data, name);
  await writeFile(path, content);
  await chmod(path, 0o600);
  const { uid, gid } = await stat(data);
  await chown(path, uid, gid);
}

/** @returns whether the session has TLS, and the error code or message of a session that is refused */
async function connect(host: string, parameters: Record<string, string>, user?: string) {
  const url = Object.assign(new URL(server.url), { hostname: host, search: String(new URLSearchParams(parameters)) });
  if (user) Object.assign(url, { username: user, password: '' });
  try {
    const { rows } = await sql<{ ssl: boolean }>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(open({ url: url.href, purpose: 'migrations' }));
    return rows[0]!.ssl ? 'TLS' : 'no TLS';
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return code === '28000' ? message : code;
  }
}

test('A server without TLS is accepted under sslmode=disable alone', async () => {
  expect(await connect('localhost', { sslmode: 'disable' })).toBe('no TLS');
  for (const sslmode of ['require', 'verify-ca', 'verify-full'])
    expect(await connect('localhost', { sslmode, sslrootcert: certificate('authority.pem') })).toBe(
      'The server does not support SSL connections',
    );
});

describe('A server with a certificate of a private authority', () => {
  beforeAll(async () => {
    await giveToServer('server.crt', await readFile(certificate('server.pem'), 'utf8'));
    await giveToServer('server.key', await readFile(certificate('server-key.pem'), 'utf8'));
    await giveToServer('root.crt', await readFile(certificate('authority.pem'), 'utf8'));
    const rules = await readFile(join(folder, 'data', 'pg_hba.conf'), 'utf8');
    await giveToServer('pg_hba.conf', `hostssl all certified 127.0.0.1/32 cert\n${rules}`);
    const db = openPatient(server.url);
    await sql`create role certified login`.execute(db);
    for (const setting of [`ssl_ca_file = 'root.crt'`, `ssl = on`])
      await sql`alter system set ${sql.raw(setting)}`.execute(db);
    await sql`select pg_reload_conf()`.execute(db);
    // The postmaster reads its configuration some time after the signal.
    while ((await connect('localhost', { sslmode: 'require' })) !== 'TLS');
  });

  test.each([
    ['disable', 'localhost', undefined, 'no TLS'],
    ['require', '127.0.0.1', undefined, 'TLS'],
    ['require', '127.0.0.1', 'authority.pem', 'TLS'],
    ['require', '127.0.0.1', 'server.pem', 'SELF_SIGNED_CERT_IN_CHAIN'],
    ['verify-ca', '127.0.0.1', 'authority.pem', 'TLS'],
    ['verify-full', 'localhost', 'authority.pem', 'TLS'],
    ['verify-full', '127.0.0.1', 'authority.pem', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['verify-full', 'localhost', undefined, 'SELF_SIGNED_CERT_IN_CHAIN'],
    ['verify-full', 'localhost', 'system', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ])('under sslmode=%s, by the name %s and the authority %s: %s', async (sslmode, host, authority, result) => {
    const file = authority && authority !== 'system' ? certificate(authority) : authority;
    expect(await connect(host, { sslmode, ...(file ? { sslrootcert: file } : {}) })).toBe(result);
  });

  test('lets a user in who has a certificate, whose key may be encrypted', async () => {
    const parameters = {
      ...{ sslmode: 'verify-full', sslrootcert: certificate('authority.pem'), sslpassword: 'key-secret' },
      ...{ sslcert: certificate('client.pem'), sslkey: certificate('client-key.pem') },
    };
    expect(await connect('localhost', parameters, 'certified')).toBe('TLS');
    expect(await connect('localhost', { sslmode: 'require' }, 'certified')).toContain('certificate');
  });
});
