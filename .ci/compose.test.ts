import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

const file = readFileSync(join(import.meta.dirname, '..', 'docker', 'compose.yaml'), 'utf8');
const { services } = parse(file) as { services: Record<string, { ports?: string[] }> };

test('compose.yaml publishes the services, which have no login, on the machine itself only', () => {
  const published = Object.values(services).flatMap(({ ports = [] }) => ports);
  expect(published.map((port) => port.split(':'))).toEqual([
    ['127.0.0.1', '8080', '8080'],
    ['127.0.0.1', '3000', '3000'],
    ['127.0.0.1', '3001', '3000'],
    ['127.0.0.1', '8082', '8080'],
  ]);
});
