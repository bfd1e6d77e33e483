import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fetchWhenServed } from '../http/fetch-when-served.ts';
import { startService, type TestService } from '../service/start-service.ts';

/** The part of an OpenAPI document that the tests read. */
interface Document {
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  operationId: string;
  requestBody?: object;
  responses: Record<string, { description?: string }>;
}

/** Declares the tests of a service's OpenAPI document, of the client that is generated from it and of the page that shows it. */
export function testDocument(name: string, main: string) {
  let service: TestService;
  beforeAll(async () => {
    service = await startService(main);
  });
  afterAll(() => service.stop());

  describe('OpenAPI document', () => {
    test('/openapi.json is an OpenAPI 3.1 document in which a linter finds nothing', async () => {
      // Imported here because other test files do without it.
      const { documentProblems } = await import('./lint-document.ts');
      const { status, body } = await service.request('GET', '/openapi.json');
      expect([status, (body as { openapi: string }).openapi]).toEqual([200, '3.1.0']);
      expect(await documentProblems(body as object)).toEqual([]);
    });

    test('/openapi.json and /metrics have the version of package.json', async () => {
      const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
      const { body } = await service.request('GET', '/openapi.json');
      expect(body).toMatchObject({ info: { version } });
      const metrics = await (await fetchWhenServed(`${service.url}/metrics`)).text();
      expect(metrics).toContain(`service_build_info{service="${name}",version="${version}",`);
    });

    test('it says something of each response, and has no keywords of the service itself', async () => {
      const document = (await service.request('GET', '/openapi.json')).body as Document;
      const operations = Object.values(document.paths).flatMap((path) =>
        Object.entries(path).flatMap(([method, operation]) => (method === 'parameters' ? [] : [operation])),
      );
      for (const { operationId, requestBody, responses } of operations) {
        const undescribed = Object.values(responses).filter(({ description }) => description === 'Default Response');
        expect([operationId, undescribed]).toEqual([operationId, []]);
        const ofBodies = Object.keys(responses).filter((status) => ['413', '415'].includes(status));
        expect([operationId, ofBodies]).toEqual([operationId, requestBody ? ['413', '415'] : []]);
      }
      const names = JSON.stringify(document).match(/"x-[\w-]+"(?=:)/g);
      expect(new Set(names)).toEqual(new Set(names?.filter((name) => /^"x-(request-id|total-count)"$/.test(name))));
    });

    test('the types of the client in libs/client are those of this document', async () => {
      const { clientTypes } = await import('./client-types.ts');
      const { body } = await service.request('GET', '/openapi.json');
      const { kept, made } = await clientTypes(name, body as object);
      expect(kept).toBe(made);
    });

    test('/docs is a page that loads everything it needs from the service', async () => {
      const response = await fetchWhenServed(`${service.url}/docs`);
      const page = await response.text();
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
      expect(files.length).toBeGreaterThan(3);
      for (const file of files) {
        const { status } = await fetchWhenServed(new URL(file, service.url));
        expect([file, status]).toEqual([expect.stringMatching(/^\/docs\//), 200]);
      }
    });
  });
}
