import { expect, test } from '@jest/globals';
import { parseConnectionUrl } from '../src/index.ts';

test.each([
  ['postgres://a', [{ host: 'a' }]],
  ['postgres://u:p@a:1,b/db', [{ host: 'a', port: 1 }, { host: 'b' }]],
  ['postgresql://[::1],[fe80::1]:5433/db', [{ host: '::1' }, { host: 'fe80::1', port: 5_433 }]],
  [
    'postgres:///db?host=a,b&port=1,2',
    [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ],
  ],
  [
    'postgres:///db?host=a,b&port=1',
    [
      { host: 'a', port: 1 },
      { host: 'b', port: 1 },
    ],
  ],
  ['postgres://%2Frun%2Fpostgresql/db', [{ host: '/run/postgresql' }]],
  ['postgres:///db?host=/run/postgresql', [{ host: '/run/postgresql' }]],
  ['postgres:///db', [{}]],
])('%s names the servers of libpq', (url, servers) => {
  expect(parseConnectionUrl(url).servers).toEqual(servers);
});

test('the user, the password, the database and the options are those of the URL', () => {
  const { config, targetSessionAttributes, connectTimeoutMs } = parseConnectionUrl(
    'postgres://us%40er:p%2Fa%40s,s@a:1,b:2/d%20b?target_session_attrs=primary&connect_timeout=3&options=-c%20geqo%3Doff',
  );
  expect(config).toMatchObject({ user: 'us@er', password: 'p/a@s,s', database: 'd b', options: '-c geqo=off' });
  expect([targetSessionAttributes, connectTimeoutMs]).toEqual(['primary', 3_000]);
});
