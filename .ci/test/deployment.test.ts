import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse } from 'yaml';
import { EnvironmentVariables, loadSettings } from '../../libs/service/src/settings.ts';

const docker = join(import.meta.dirname, '../../docker');
const read = (file: string) => readFileSync(join(docker, file), 'utf8');
const readme = read('README.md');

interface Container {
  image: string;
  environment: Record<string, string>;
  ports?: string[];
  secrets: string[];
  profiles?: string[];
  volumes?: string[];
}
interface Compose {
  services: Record<string, Container>;
}

const registered = services();
const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
/** The one service in docker/README.md. */
const example = parse(/^```yaml\n(services.*?)^```$/ms.exec(readme)![1]!) as Compose;
const containers = [example.services['items']!, ...registered.map(({ name }) => compose.services[name]!)];

describe('Compose', () => {
  test('publishes the services, which have no login, on the machine itself only', () => {
    const ports = Object.values({ ...compose.services, example: example.services['items']! }).flatMap(
      (container) => container.ports ?? [],
    );
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    for (const { name, localPort, port } of registered)
      expect(compose.services[name]!.ports).toEqual([expect.stringMatching(`:-${localPort}}:${port}$`)]);
  });

  test('gives each service its own database, as a secret, and PostgreSQL the secrets of all', () => {
    for (const { environment, secrets } of containers)
      expect([environment, secrets]).toEqual([{ DATABASE_URL_FILE: `/run/secrets/${secrets[0]!}` }, [secrets[0]]]);
    const urls = registered.map(({ name }) => `${name}-database-url`);
    expect(registered.flatMap(({ name }) => compose.services[name]!.secrets)).toEqual(urls);
    expect(compose.services['postgres']!.secrets.sort()).toEqual(['postgres-password', ...urls].sort());
  });

  test('gives the services no rights and no files to write', () => {
    const restricted = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };
    for (const container of containers) expect(container).toMatchObject(restricted);
  });

  test('starts Prometheus and Grafana only as the profile observability, pinned and with files that exist', () => {
    const optional = Object.values(compose.services).filter(({ profiles }) => profiles);
    expect(optional).toEqual([compose.services['prometheus'], compose.services['grafana']]);
    for (const { image, profiles, volumes } of optional) {
      expect([image, profiles]).toEqual([expect.stringMatching(/:v?\d+\.\d+\.\d+$/), ['observability']]);
      const files = volumes!.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0]!);
      expect(files.filter((file) => !existsSync(join(docker, file)))).toEqual([]);
    }
  });

  test('scrapes each service', () => {
    const { scrape_configs: jobs } = parse(read('observability/prometheus.yml')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = jobs.flatMap((job) => job.static_configs).flatMap((config) => config.targets);
    expect(targets.sort()).toEqual(registered.map(({ name, port }) => `${name}:${port}`));
  });
});

test('docker/README.md lists the settings that there are, each with its default', () => {
  const DATABASE_URL = 'postgres://user:password@host:5432/database';
  const delay = (NODE_ENV: string) => loadSettings({ NODE_ENV, DATABASE_URL }, 1).SHUTDOWN_DELAY_MS;
  const names = Object.keys(EnvironmentVariables.properties);
  // What the settings leave undefined is decided where they are used.
  const defaults: Record<string, unknown> = {
    ...loadSettings({ DATABASE_URL }, 1),
    PORT: 'that of the service',
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
  const table = readme.split('## Settings\n')[1]!.split('\n## ')[0]!;
  const rows = table.split('\n').filter((line) => line.startsWith('|'));
  const listed = rows.slice(2).map((row) =>
    row
      .replaceAll('`', '')
      .split('|')
      .slice(1, 3)
      .map((cell) => cell.trim()),
  );
  expect(listed.sort()).toEqual(expected.sort());
});
