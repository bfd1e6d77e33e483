import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ServiceDefinition } from '../src/run-service.ts';
import { clientTypes } from './client-types.ts';
import { serve } from './harness.ts';
import { documentProblems } from './lint-document.ts';
import { readmeExamples } from './readme.ts';

type Definition<Tables> = Omit<ServiceDefinition<Tables>, 'name' | 'defaultPort'>;

/** Declares the tests of a service's OpenAPI document, of the client made from it and of the page that shows it. */
export function testDocument<Tables>(name: string, definition: Definition<Tables>) {
  const service = serveForAllTests(definition);

  test('/openapi.json is an OpenAPI 3.1 document in which a linter finds nothing', async () => {
    const { status, body } = await service().request('GET', '/openapi.json');
    expect([status, (body as { openapi: string }).openapi]).toEqual([200, '3.1.0']);
    expect(await documentProblems(body as object)).toEqual([]);
  });

  test('The types of the client in libs/client are those of this document', async () => {
    const { body } = await service().request('GET', '/openapi.json');
    const { kept, made } = await clientTypes(name, body as object);
    expect(kept).toBe(made);
  });

  test('/docs is a page that loads everything it needs from the service', async () => {
    const response = await fetch(`${service().url}/docs`);
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      const { status } = await fetch(new URL(file, service().url));
      expect([file, status]).toEqual([expect.stringMatching(/^\/docs\//), 200]);
    }
  });
}

/** Declares the test that a README's curl lines, one after the other on an empty database, answer what they say. */
export function testReadme<Tables>(definition: Definition<Tables>, file: string) {
  const service = serveForAllTests(definition);

  test('Every curl line of the README answers what it says, one after the other on an empty database', async () => {
    const examples = readmeExamples(file);
    expect(examples.length).toBeGreaterThan(5);
    for (const { line, method, path, headers, body, status, pattern } of examples) {
      const response = await fetch(service().url + path, { method, headers, ...(body === undefined ? {} : { body }) });
      expect([line, response.status, await response.text()]).toEqual([line, status, expect.stringMatching(pattern)]);
    }
  });
}

function serveForAllTests<Tables>(definition: Definition<Tables>) {
  let service: Awaited<ReturnType<typeof serve<Tables>>>;
  beforeAll(async () => {
    service = await serve(definition);
  });
  afterAll(() => service.stop());
  return () => service;
}
