import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse } from 'yaml';
import { EnvironmentVariables, loadSettings } from '@rest-services/service/settings';
import { block } from './program.ts';

const workspace = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(workspace, file), 'utf8');

interface Compose {
  services: Record<string, { environment: object; ports?: string[]; secrets: string[] }>;
}

const registered = services();
const compose = parse(read('docker/compose.yaml'), { merge: true }) as Compose;
/** The one service in docker/README.md. */
const example = (parse(block('README.md', 'yaml\nservices')) as Compose).services['items']!;
const containers = [example, ...registered.map(({ name }) => compose.services[name]!)];

/** Cells of the rows of tables. */
const tableRows = (page: string) => Array.from(page.matchAll(/^\| (.*?) *\|$/gm), ([, row]) => row!.split(/ *\| */));

test('README.md says where each service is, and its own README its port by default', () => {
  const rows = tableRows(read('README.md'));
  for (const { name, port, localPort, path } of registered) {
    expect(rows).toContainEqual([`[${name}](apps/${name}/README.md)`, `http://localhost:${localPort}${path}`]);
    const readme = read(`apps/${name}/README.md`);
    expect(readme).toContain(`both at http://localhost:${localPort},`);
    expect(readme).toContain(`listens on \`PORT\`, by default ${port}.`);
  }
  expect(new Set(registered.map(({ localPort }) => localPort)).size).toBe(registered.length);
});

test('Compose publishes the services, which have no login, on the machine itself only', () => {
  const ports = [example, ...Object.values(compose.services)].flatMap((container) => container.ports ?? []);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  for (const { name, localPort, port } of registered)
    expect([name, compose.services[name]?.ports]).toEqual([name, [expect.stringMatching(`:-${localPort}}:${port}$`)]]);
});

test('Compose gives each service a database as a secret, no rights, no files to write', () => {
  const urls = registered.map(({ name }) => `${name}-database-url`);
  expect(registered.flatMap(({ name }) => compose.services[name]?.secrets)).toEqual(urls);
  expect(compose.services['postgres']!.secrets.sort()).toEqual(['postgres-password', ...urls].sort());
  const restricted = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };
  for (const container of containers) {
    const [secret] = container.secrets;
    const environment = { DATABASE_URL_FILE: `/run/secrets/${secret!}` };
    expect(container).toMatchObject({ environment, secrets: [secret], ...restricted });
  }
});

test('Prometheus scrapes each service, with the label that the alerts look for', () => {
  const targets = registered.map(({ name, port }) => `${name}:${port}`);
  const static_configs = [{ targets, labels: { part_of: 'rest-services' } }];
  expect(parse(read('docker/observability/prometheus.yml'))).toMatchObject({ scrape_configs: [{ static_configs }] });
});

test('A release tags the image of each service', () => {
  const release = read('.github/workflows/release.yml');
  expect(release).toContain(`app: [${registered.map(({ name }) => name).join(', ')}]`);
});

test('Images have the Node.js that the packages have, of the line in .nvmrc', () => {
  const dockerfile = read('docker/Dockerfile');
  const [, version, line] = /^ARG NODE_IMAGE=docker\.io\/library\/node:((\d+)\.[\d.]+)-/m.exec(dockerfile)!;
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: object };
  expect(Object.values(optionalDependencies)).toEqual([version, version]);
  expect(read('.nvmrc').trim()).toBe(line);
});

test('The licences of the page at /docs are those of its version', () => {
  const manifest = read('node_modules/@fastify/swagger-ui/package.json');
  const [, version] = /"swagger-ui-dist": "([\d.]+)"/.exec(manifest)!;
  expect(read('libs/service/swagger-ui-licenses.txt')).toContain(`swagger-ui-dist ${version},`);
});

test('docker/README.md lists the settings that there are, each with its default', () => {
  const DATABASE_URL = 'postgres://user:password@host:5432/database';
  const delay = (NODE_ENV: string) => loadSettings({ NODE_ENV, DATABASE_URL }, 1).SHUTDOWN_DELAY_MS;
  const names = Object.keys(EnvironmentVariables.properties);
  // What the settings leave undefined is decided where they are used.
  const defaults: Record<string, unknown> = {
    ...loadSettings({ DATABASE_URL }, 1),
    PORT: 'that of the service',
    HOST: 'all addresses',
    DATABASE_URL: 'none, required',
    DATABASE_MIGRATION_URL: 'DATABASE_URL',
    DATABASE_POOLER: 'none',
    DATABASE_READ_URL: 'none',
    TRUST_PROXY: 'none',
    ...Object.fromEntries(names.filter((name) => name.startsWith('OTEL_EXPORTER')).map((name) => [name, 'none'])),
    CORS_ORIGIN: 'any origin in development, none in production',
    SHUTDOWN_DELAY_MS: `${delay('production')} in production, else ${delay('development')}`,
  };
  const expected = names.map((name) => [name, name.endsWith('_FILE') ? '' : String(defaults[name])]);
  const section = read('docker/README.md').split('## Settings\n')[1]!.split('\n## ')[0]!;
  const [, , ...rows] = tableRows(section.replaceAll('`', ''));
  expect(rows.map(([name, value]) => [name, value]).sort()).toEqual(expected.sort());
});
