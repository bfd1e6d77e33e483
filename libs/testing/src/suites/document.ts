import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { sendJson } from '../http/send-json.ts';
import type { SharedProcess } from '../service/processes.ts';

/** The part of an OpenAPI document that the tests read. */
interface Document {
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  operationId: string;
  requestBody?: object;
  responses: Record<string, { description?: string }>;
}

/** Declares the tests of a service's OpenAPI document, and of the client that is generated from it. */
export function testDocument(shared: SharedProcess, name: string) {
  const read = async () => (await sendJson(shared.url, 'GET', '/openapi.json')).body as Document;

  test('/openapi.json is an OpenAPI 3.1 document in which a linter finds nothing', async () => {
    // Imported here because other test files do without it.
    const { documentProblems } = await import('./lint-document.ts');
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const document = await read();
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version } });
    expect(await documentProblems(document)).toEqual([]);
  });

  test('/openapi.json says something of each response, and has no keywords of the service itself', async () => {
    const document = await read();
    const operations = Object.values(document.paths).flatMap((path) =>
      Object.entries(path).flatMap(([method, operation]) => (method === 'parameters' ? [] : [operation])),
    );
    for (const { operationId, requestBody, responses } of operations) {
      const undescribed = Object.values(responses).filter(({ description }) => description === 'Default Response');
      expect([operationId, undescribed]).toEqual([operationId, []]);
      const ofBodies = Object.keys(responses).filter((status) => ['413', '415'].includes(status));
      expect([operationId, ofBodies]).toEqual([operationId, requestBody ? ['413', '415'] : []]);
      const ofAll = ['400', '408', '431', '500', '503'];
      expect([operationId, Object.keys(responses)]).toEqual([operationId, expect.arrayContaining(ofAll)]);
    }
    const names = JSON.stringify(document).match(/"x-[\w-]+"(?=:)/g);
    expect(new Set(names)).toEqual(new Set(names?.filter((name) => /^"x-(request-id|total-count)"$/.test(name))));
  });

  test('the types of the client in libs/client are those of /openapi.json', async () => {
    const { clientTypes } = await import('./client-types.ts');
    const { kept, made } = await clientTypes(name, await read());
    expect(kept).toBe(made);
  });
}
