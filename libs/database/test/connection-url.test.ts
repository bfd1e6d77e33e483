import { expect, test } from '@jest/globals';
import { parseConnectionUrl } from '../src/index.ts';

test.each([
  ['postgres://u:p@a:1/db', { host: 'a', port: 1 }],
  ['postgresql://[fe80::1]:5433/db', { host: 'fe80::1', port: 5_433 }],
  ['postgres://[::1]/db', { host: '::1' }],
  ['postgres://u:p@/db?host=/run/postgresql&port=2', { host: '/run/postgresql', port: 2 }],
  ['postgres://%2Frun%2Fpostgresql/db', { host: '/run/postgresql' }],
  ['postgres:///db', {}],
  ['postgres://db/items?application_name=a@b', { host: 'db' }],
  ['postgres://u:p@db/items?options=-c a=b@c', { host: 'db' }],
])('%s names the server of libpq', (url, server) => {
  const { host, port } = parseConnectionUrl(url);
  expect({ host, port }).toEqual(server);
});

test('The user, the password, the database and the options are those of the URL', () => {
  const url = 'postgres://us%40er:p%2Fa%40s,s@a:1/d%20b?connect_timeout=3&options=-c%20geqo%3Doff';
  const identity = { user: 'us@er', password: 'p/a@s,s', database: 'd b' };
  expect(parseConnectionUrl(url)).toMatchObject({
    ...identity,
    options: '-c geqo=off',
    connectionTimeoutMillis: 3_000,
  });
});

const passwords = ['p/ss', 'p?ss', 'p#ss', 'p%ss', 'p/s@s', '12/34', '12?34', '50%', '%zz'];
test.each(passwords)('The password %s has to be percent-encoded', (password) => {
  const url = (text: string) => `postgres://items:${text}@db:5432/items?application_name=a`;
  expect(() => parseConnectionUrl(url(password))).toThrow(/percent-encode/);
  expect(parseConnectionUrl(url(encodeURIComponent(password))).password).toBe(password);
});

const UNKNOWN =
  'whose parameters are some of application_name, channel_binding, connect_timeout, host, options, port, sslcert, sslkey, sslmode, sslpassword, sslrootcert, uselibpqcompat; ';
const SEVERAL = 'with one host: the name that always leads to the primary';

test.each([
  ['postgres://db/items?sslmode=disable&sslMode=verify-full', `${UNKNOWN}it has sslMode`],
  ['postgres://db/items?schema=app&pgbouncer=true', `${UNKNOWN}it has schema, pgbouncer`],
  ['postgres://db/items?target_session_attrs=read-write', `${UNKNOWN}it has target_session_attrs`],
  ['postgres://db/items?ssl=true', `${UNKNOWN}it has ssl`],
  ['postgres://a:1,b:2/db', SEVERAL],
  ['postgres:///db?host=a,b', SEVERAL],
  ['postgres://a/db?port=1,2', SEVERAL],
  ['postgres://a/db?port=5x', 'whose host is HOST:PORT, or [ADDRESS]:PORT for IPv6, with a port of 1 to 65535'],
  ['postgres://db/x?channel_binding=require', 'whose channel_binding is one of disable, prefer; it is "require"'],
  ['postgres://db/x?uselibpqcompat=false', 'whose uselibpqcompat is one of true; it is "false"'],
  [
    'postgres://db/x?sslmode=require&sslmode=prefer',
    'is one of disable, require, verify-ca, verify-full; it is "prefer"',
  ],
  ...Object.entries({ sslrootcert: '/no where/ca.pem', sslcert: '/', sslkey: '/nowhere' }).map(([name, file]) => [
    `postgres://db/x?sslmode=verify-full&${name}=${file}`,
    `whose ${name} names a readable file; ${name} is "${file}"`,
  ]),
  ['postgres://db/x?sslrootcert=system&sslmode=require', 'sslmode with sslrootcert=system is one of verify-full'],
])('%s is refused', (url, message) => {
  expect(() => parseConnectionUrl(url)).toThrow(message);
});

test.each([
  ['', undefined],
  ['sslmode=disable', false],
  ['sslmode=verify-full&sslmode=disable', false],
  ['sslmode=require', { rejectUnauthorized: false }],
  // node-postgres advises it.
  ['sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }],
  ['sslmode=verify-full&channel_binding=prefer', {}],
  ['sslrootcert=system', {}],
])('The TLS of "%s" is that of libpq', (parameters, ssl) => {
  expect(parseConnectionUrl(`postgres://db/items?${parameters}`).ssl).toEqual(ssl);
});
