import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { sendJson } from '../http/send-json.ts';
import type { OpenApiDocument } from '../service/document.ts';
import type { SharedProcess } from '../service/processes.ts';

/** Declares the tests of a service's OpenAPI document. */
export function testDocument(shared: SharedProcess, name: string) {
  const read = async () => (await sendJson(shared.url, 'GET', '/openapi.json')).body as OpenApiDocument;

  test('/openapi.json is an OpenAPI 3.1 document in which a linter finds nothing', async () => {
    // Imported here because other test files do without it.
    const { createConfig, lintFromString } = await import('@redocly/openapi-core');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const document = await read();
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version } });
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
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

  test(`openapi.json is the document that is served: \`npx nx openapi ${name}\` writes it`, async () => {
    const committed = JSON.parse(readFileSync('openapi.json', 'utf8')) as OpenApiDocument;
    const { info, ...served } = await read();
    // A release changes the version alone.
    expect(committed).toEqual({ ...served, info: { ...info, version: committed.info.version } });
  });
}
