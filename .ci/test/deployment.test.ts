import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse } from 'yaml';
import { EnvironmentVariables, loadSettings } from '../../libs/service/src/settings.ts';

const workspace = join(import.meta.dirname, '../..');
const read = (...path: string[]) => readFileSync(join(workspace, ...path), 'utf8');

const readme = read('docker', 'README.md');

const names = Object.keys(EnvironmentVariables.properties);
const isFile = (name: string) => name.endsWith('_FILE');
const files = names.filter(isFile);
const settings = names.filter((name) => !isFile(name));

const url = 'postgres://user:password@host:5432/database';

interface Compose {
  services: Record<string, { image: string; environment: Record<string, string>; ports: string[]; secrets: string[] }>;
  secrets: object;
}

/** Reads the cells of the table below a heading of docker/README.md. */
function table(heading: string) {
  const section = readme.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| |\|$/g, '').trim()));
}

const plain = (cell: string) => cell.replaceAll('`', '');

const [compose] = [...readme.matchAll(/^```yaml\n(services.*?)^```$/gms)].map(([, yaml]) => parse(yaml!) as Compose);

function expectAllowed(environment: Record<string, unknown>) {
  expect([...settings, ...files]).toEqual(expect.arrayContaining(Object.keys(environment)));
  for (const value of Object.values(environment)) expect(value).toEqual(expect.any(String));
  const given = Object.entries(environment).map(([name, value]) =>
    files.includes(name) ? [name.replace(/_FILE$/, ''), url] : [name, value],
  );
  // None of them changes the port.
  expect(loadSettings(Object.fromEntries(given) as NodeJS.ProcessEnv, 1).PORT).toBe(1);
}

describe('docker/README.md', () => {
  test('lists the settings that there are, each with its default', () => {
    const delay = (NODE_ENV: string) => loadSettings({ NODE_ENV, DATABASE_URL: url }, 1).SHUTDOWN_DELAY_MS;
    // What the settings leave undefined is decided where they are used.
    const defaults: Record<string, unknown> = {
      ...loadSettings({ DATABASE_URL: url }, 1),
      PORT: 'that of the service',
      DATABASE_URL: 'none, required',
      DATABASE_MIGRATION_URL: 'DATABASE_URL',
      DATABASE_POOLER: 'none',
      DATABASE_READ_URL: 'none',
      DIAGNOSTICS_DIRECTORY: 'none',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'none',
      CORS_ORIGIN: 'any origin in development, none in production',
      SHUTDOWN_DELAY_MS: `${delay('production')} in production, else ${delay('development')}`,
    };
    const listed = table('Settings').map(([name, value]) => [plain(name!), plain(value!)]);
    const expected = [...settings.map((name) => [name, String(defaults[name])]), ...files.map((name) => [name, ''])];
    expect(listed.sort()).toEqual(expected.sort());
  });

  test('lists the paths that each service has', () => {
    const paths = table('Paths of each service').map(([path]) => plain(path!));
    expect(paths).toEqual(['/livez', '/readyz', '/metrics', '/openapi.json', '/docs']);
  });

  test('runs one service in Compose, with the database as a secret and its port on the machine itself only', () => {
    const { image, environment, secrets, ports } = compose!.services['items']!;
    expect(image).toBe('ghcr.io/OWNER/rest-services/items:TAG');
    expectAllowed(environment);
    expect(secrets.map((name) => `/run/secrets/${name}`)).toEqual([environment['DATABASE_URL_FILE']]);
    expect(Object.keys(compose!.secrets)).toEqual(secrets);
    expect(ports).toEqual(['127.0.0.1:8080:8080']);
  });

  test('gives the container in Compose no rights, no files to write, 256 MiB and time to drain', () => {
    expect(compose!.services['items']).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: '256m',
      ulimits: { nofile: 4096 },
      stop_grace_period: '15s',
    });
  });
});

test.each(services())(
  'The overlay of $name for Kubernetes is that of items, with its name and port',
  ({ name, port }) => {
    const overlay = (service: string) => read('docker/kubernetes/overlays', service, 'kustomization.yaml');
    const expected = overlay('items').replaceAll('items', name).replace('value: 8080', `value: ${port}`);
    expect(overlay(name)).toBe(expected);
  },
);

test.each(services())('The README of $name says its default port and links to docker/README.md', ({ name, port }) => {
  const document = read('apps', name, 'README.md');
  expect(document).toMatch(new RegExp(`\\bport ${port}\\b|\\b${port} by default`));
  expect(document).toContain('](../../docker/README.md)');
});
