import { expect, test } from '@jest/globals';
import { parseConnectionUrl } from '../src/index.ts';

test.each([
  ['postgres://u:p@a:1,b/db', [{ host: 'a', port: 1 }, { host: 'b' }]],
  ['postgresql://[::1],[fe80::1]:5433/db', [{ host: '::1' }, { host: 'fe80::1', port: 5_433 }]],
  ['postgres:///db?host=a,b&port=1,2', ['a', 'b'].map((host, index) => ({ host, port: index + 1 }))],
  ['postgres:///db?host=a,b&port=1', ['a', 'b'].map((host) => ({ host, port: 1 }))],
  ['postgres://%2Frun%2Fpostgresql/db', [{ host: '/run/postgresql' }]],
  ['postgres:///db', [{}]],
  ['postgres://db/items?application_name=a@b', [{ host: 'db' }]],
  ['postgres://u:p@db/items?options=-c a=b@c', [{ host: 'db' }]],
])('%s names the servers of libpq', (url, servers) => {
  expect(parseConnectionUrl(url).servers).toEqual(servers);
});

test('The user, the password, the database and the options are those of the URL', () => {
  const { config, targetSessionAttributes, connectTimeoutMs } = parseConnectionUrl(
    'postgres://us%40er:p%2Fa%40s,s@a:1,b:2/d%20b?target_session_attrs=primary&connect_timeout=3&options=-c%20geqo%3Doff',
  );
  expect(config).toMatchObject({ user: 'us@er', password: 'p/a@s,s', database: 'd b', options: '-c geqo=off' });
  expect([targetSessionAttributes, connectTimeoutMs]).toEqual(['primary', 3_000]);
});

test.each(['p/ss', 'p?ss', 'p#ss', 'p%ss', 'p/s@s', '12/34', '12?34', '50%', '%zz'])(
  'The password %s has to be percent-encoded',
  (password) => {
    const url = (text: string) => `postgres://items:${text}@db:5432/items?application_name=a`;
    expect(() => parseConnectionUrl(url(password))).toThrow(/percent-encode/);
    expect(parseConnectionUrl(url(encodeURIComponent(password))).config.password).toBe(password);
  },
);

test('uselibpqcompat=true, which node-postgres advises, is taken, and no other value', () => {
  expect(parseConnectionUrl('postgres://db/items?sslmode=require&uselibpqcompat=true').config.ssl).toEqual({
    rejectUnauthorized: false,
  });
  expect(() => parseConnectionUrl('postgres://db/items?uselibpqcompat=false')).toThrow(
    'whose uselibpqcompat is one of true; it is "false"',
  );
});
