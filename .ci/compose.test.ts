import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { services } from '@rest-services/workspace';
import { parse } from 'yaml';

const file = readFileSync(join(import.meta.dirname, '..', 'docker', 'compose.yaml'), 'utf8');
const compose = parse(file, { merge: true }) as {
  services: Record<string, { ports?: string[]; secrets: string[] }>;
  secrets: Record<string, unknown>;
};
const { postgres, ...others } = compose.services;

test('compose.yaml publishes the services, which have no login, on the machine itself only', () => {
  const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
  const expected = services().map(({ localPort, port }) => `127.0.0.1:${localPort}:${port}`);
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
