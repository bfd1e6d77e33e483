import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse } from 'yaml';

const folder = join(import.meta.dirname, '../../docker');
const file = readFileSync(join(folder, 'compose.yaml'), 'utf8');
const compose = parse(file, { merge: true }) as {
  services: Record<
    string,
    { image: string; ports?: string[]; secrets: string[]; profiles?: string[]; volumes?: string[] }
  >;
  secrets: Record<string, unknown>;
};
const { postgres, prometheus, grafana, ...others } = compose.services;

test('compose.yaml publishes the services, which have no login, on the machine itself only', () => {
  const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
  const expected = services().map(({ localPort, port }) => `127.0.0.1:${localPort}:${port}`);
  expected.push('127.0.0.1:9090:9090', '127.0.0.1:3002:3000');
  expect(published.sort()).toEqual(expected.sort());
});

test('compose.yaml runs the image of each service, with the secret of its database', () => {
  const expected = services().map(({ name, localPort, port }) => [
    name,
    expect.objectContaining({
      image: `rest-services/${name}:\${TAG:-latest}`,
      build: { context: '..', dockerfile: 'docker/Dockerfile', args: { APP: name } },
      environment: { DATABASE_URL_FILE: `/run/secrets/${name}-database-url` },
      secrets: [`${name}-database-url`],
      ports: [`127.0.0.1:${localPort}:${port}`],
    }),
  ]);
  expect(others).toEqual(Object.fromEntries(expected));
});

test('compose.yaml gives the secrets of all databases to PostgreSQL, which makes the databases', () => {
  const names = ['postgres-password', ...services().map(({ name }) => `${name}-database-url`)].sort();
  expect([...postgres!.secrets].sort()).toEqual(names);
  expect(compose.secrets).toEqual(Object.fromEntries(names.map((name) => [name, { file: `./secrets/${name}` }])));
});

test('the profile observability of compose.yaml has pinned images, and mounts files that exist', () => {
  const profiles = Object.values(compose.services).flatMap((service) => service.profiles ?? []);
  expect(profiles).toEqual(['observability', 'observability']);
  for (const { image, profiles, volumes = [] } of [prometheus!, grafana!]) {
    expect(profiles).toEqual(['observability']);
    expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
    const mounted = volumes.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0]!);
    expect(mounted.length).toBeGreaterThan(0);
    expect(mounted.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  }
});

test('the Prometheus of compose.yaml scrapes each service', () => {
  const { scrape_configs: jobs } = parse(readFileSync(join(folder, 'observability/prometheus.yml'), 'utf8')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const targets = jobs.flatMap((job) => job.static_configs).flatMap((config) => config.targets);
  expect(targets.sort()).toEqual(services().map(({ name, port }) => `${name}:${port}`));
});
