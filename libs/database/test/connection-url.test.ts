import { describe, expect, test } from '@jest/globals';
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
  const { config } = parseConnectionUrl(url);
  expect({ host: config.host, port: config.port }).toEqual(server);
});

test('The user, the password, the database and the options are those of the URL', () => {
  const { config, connectTimeoutMs } = parseConnectionUrl(
    'postgres://us%40er:p%2Fa%40s,s@a:1/d%20b?connect_timeout=3&options=-c%20geqo%3Doff',
  );
  expect(config).toMatchObject({ user: 'us@er', password: 'p/a@s,s', database: 'd b', options: '-c geqo=off' });
  expect(connectTimeoutMs).toBe(3_000);
});

test.each(['p/ss', 'p?ss', 'p#ss', 'p%ss', 'p/s@s', '12/34', '12?34', '50%', '%zz'])(
  'The password %s has to be percent-encoded',
  (password) => {
    const url = (text: string) => `postgres://items:${text}@db:5432/items?application_name=a`;
    expect(() => parseConnectionUrl(url(password))).toThrow(/percent-encode/);
    expect(parseConnectionUrl(url(encodeURIComponent(password))).config.password).toBe(password);
  },
);

describe('A connection string is refused', () => {
  test.each(['sslMode=verify-full', 'schema=app', 'target_session_attrs=read-write', 'ssl=true', 'user=a'])(
    'with the parameter %s, which no one reads',
    (parameter) => {
      const name = parameter.split('=')[0]!;
      expect(() => parseConnectionUrl(`postgres://db/items?sslmode=disable&${parameter}`)).toThrow(
        `whose parameters are some of application_name, channel_binding, connect_timeout, host, options, port, sslcert, sslkey, sslmode, sslpassword, sslrootcert, uselibpqcompat; ${name} is not`,
      );
    },
  );

  test.each(['postgres://a,b/db', 'postgres://a:1,b:2/db', 'postgres:///db?host=a,b', 'postgres://a/db?port=1,2'])(
    'with several hosts, as in %s',
    (url) => {
      expect(() => parseConnectionUrl(url)).toThrow('with one host: the name that always leads to the primary');
    },
  );

  test.each([
    ['channel_binding=require', 'whose channel_binding is one of disable, prefer; it is "require"'],
    ['uselibpqcompat=false', 'whose uselibpqcompat is one of true; it is "false"'],
    ['sslmode=verify-full&sslmode=prefer', 'whose sslmode is one of disable, require, verify-ca, verify-full'],
    ['sslrootcert=system&sslmode=require', 'whose sslmode with sslrootcert=system is one of verify-full'],
  ])('with %s', (parameters, message) => {
    expect(() => parseConnectionUrl(`postgres://db/items?${parameters}`)).toThrow(message);
  });
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
  expect(parseConnectionUrl(`postgres://db/items?${parameters}`).config.ssl).toEqual(ssl);
});
