import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readmeExamples, serve } from '@rest-services/service/testing';
import { buildApp } from '../src/app.ts';
import { migrations } from '../src/database.ts';

let service: Awaited<ReturnType<typeof startItems>>;
const startItems = () => serve({ migrations, buildApp });
beforeAll(async () => {
  service = await startItems();
});
afterAll(() => service.stop());

test('Every curl line of the README answers what it says, one after the other on an empty database', async () => {
  const examples = readmeExamples(join(import.meta.dirname, '../README.md'));
  expect(examples.length).toBeGreaterThan(15);
  for (const { line, method, path, headers, body, status, pattern } of examples) {
    const response = await fetch(service.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    expect([line, response.status, await response.text()]).toEqual([line, status, expect.stringMatching(pattern)]);
  }
});
