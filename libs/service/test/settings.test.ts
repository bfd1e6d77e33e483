import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadSettings } from '../src/settings.ts';

const DATABASE_URL = 'postgres://items:pa55word@db:5432/items';
const load = (environment: NodeJS.ProcessEnv) => loadSettings({ DATABASE_URL, ...environment }, 8080);

describe('Settings', () => {
  test('wait 1000 ms before closing in production, and as long as SHUTDOWN_DELAY_MS says everywhere', () => {
    expect(load({ NODE_ENV: 'production' }).SHUTDOWN_DELAY_MS).toBe(1_000);
    expect(load({ NODE_ENV: 'production', SHUTDOWN_DELAY_MS: '50' }).SHUTDOWN_DELAY_MS).toBe(50);
  });

  test('are read from text; those that are empty count as not set', () => {
    const given = { PORT: '81', DATABASE_POOL_MAX: '3', MIGRATE_ON_START: 'false', CORS_ORIGIN: '*', HOST: '::1' };
    const read = { ...given, PORT: 81, DATABASE_POOL_MAX: 3, MIGRATE_ON_START: false };
    expect(load(given)).toMatchObject(read);
    expect(load({ PORT: '', CORS_ORIGIN: '' })).toMatchObject({ PORT: 8080 });
    const blanks = ' postgresql://items@[::1]:5433/items?sslmode=disable\n';
    expect(load({ DATABASE_URL: blanks }).DATABASE_URL).toBe(blanks.trim());
    for (const TRUST_PROXY of ['1', '10.0.0.0/8', '127.0.0.1, ::1, uniquelocal'])
      expect(load({ TRUST_PROXY })).toMatchObject({ TRUST_PROXY });
  });

  test.each(
    Object.entries({
      PORT: ['abc', '-1', '65536', '80.5', '0x50'],
      NODE_ENV: ['prod'],
      DATABASE_POOLER: ['session'],
      DATABASE_POOL_MAX: ['0', '1001'],
      MIGRATE_ON_START: ['yes'],
      CORS_ORIGIN: ['example.org', 'https://example.org/path'],
      LOG_LEVEL: ['loud'],
      OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'http://', 'http://a:99999'],
      OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc'],
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ['grpc'],
      OTEL_SDK_DISABLED: ['yes'],
      TRUST_PROXY: ['proxy.example.org', '10.0.0.0/8,', 'true', '1000', '1.5'],
      KEEP_ALIVE_TIMEOUT_MS: ['0'],
      SHUTDOWN_DELAY_MS: ['5001'],
    }),
  )('refuse %s of %j in one line with the name, the value and what is allowed', (name, values) => {
    for (const value of values)
      expect(() => load({ [name]: value })).toThrow(new RegExp(`^${name} must be [^\\n]+; it is "${value}"$`));
  });

  test('refuse to do without DATABASE_URL', () => {
    expect(() => loadSettings({}, 8080)).toThrow(/^DATABASE_URL must be set, to postgres:\/\/\S+; it is not set$/);
  });

  const variables = ['DATABASE_URL', 'DATABASE_MIGRATION_URL', 'DATABASE_READ_URL'];
  test.each(variables)('never show a wrong %s, which may hold a password', (name) => {
    for (const url of [
      'mysql://root:pa55word@db',
      'postgres://root:pa55word@db:99999/x',
      'postgres://root:pa55word%zz@db/x',
      'postgres://root:pa55word@db/x?port=65536',
      'postgres://root:pa55word@db/x?sslrootcert=/nowhere',
      'postgres://root:old@db/x\npostgres://root:pa55word@db/x',
      'postgres://root:pa55word@[::1/x',
      'postgres://root:pa55word@db/x?connect_timeout=1s',
      'postgres://root:pa55word@db/x?sslmode=verify-ca',
    ]) {
      expect(() => load({ [name]: url })).toThrow(new RegExp(`^(?!.*pa55word)${name} must be`));
    }
  });

  test.each(['"', "'"])('say that the quotation marks of an env file, %s, belong to the value', (mark) => {
    expect(() => load({ DATABASE_URL: `${mark}postgres://root:pa55word@db/x${mark}` })).toThrow(
      /^DATABASE_URL must be a URL without quotation marks around it$/,
    );
  });

  test('read a secret X from the file that X_FILE names, unless X is set', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'settings-'));
    const file = join(folder, 'url');
    await writeFile(file, 'postgres://from-file/items\n');
    const environment = { DATABASE_URL_FILE: file, DATABASE_MIGRATION_URL_FILE: file };
    expect(loadSettings(environment, 1)).toMatchObject({
      DATABASE_URL: 'postgres://from-file/items',
      DATABASE_MIGRATION_URL: 'postgres://from-file/items',
    });
    expect(load(environment).DATABASE_URL).toBe(DATABASE_URL);

    const refused = /^DATABASE_URL_FILE must name a readable file that is not empty; it is ".*url"$/;
    await writeFile(file, '\n');
    expect(() => loadSettings(environment, 1)).toThrow(refused);
    await rm(folder, { recursive: true });
    expect(() => loadSettings(environment, 1)).toThrow(refused);
    expect(() => load({ DATABASE_MIGRATION_URL_FILE: file })).toThrow(/^DATABASE_MIGRATION_URL_FILE must name a/);
  });
});
