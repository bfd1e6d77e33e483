import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { sendJson } from '../http/send-json.ts';
import { resolved, type OpenApiDocument } from '../service/document.ts';
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
    for (const { operationId, requestBody, responses } of operationsOf(document)) {
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

  test('/openapi.json has the own message of each error, and no examples of headers, which tools would send', async () => {
    const document = await read();
    expect(JSON.stringify(document.components.parameters)).not.toContain('example');
    for (const { operationId, parameters = [], responses } of operationsOf(resolved(document))) {
      const headers = parameters.filter(({ in: place }) => place === 'header');
      expect(JSON.stringify(headers)).not.toContain('example');
      const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
      const messages = errors.map(([, { content }]) => content!['application/json']!.example?.message);
      expect([operationId, messages]).toEqual([operationId, errors.map(() => expect.any(String))]);
      expect(new Set(messages).size).toBe(errors.length);
    }
  });

  test(`openapi.json is the document that is served: \`npx nx openapi ${name}\` writes it`, async () => {
    const committed = JSON.parse(readFileSync('openapi.json', 'utf8')) as OpenApiDocument;
    const { info, ...served } = await read();
    // A release changes the version alone.
    expect(committed).toEqual({ ...served, info: { ...info, version: committed.info.version } });
  });
}

const operationsOf = ({ paths }: OpenApiDocument) =>
  Object.values(paths).flatMap((path) =>
    Object.entries(path).flatMap(([method, operation]) => (method === 'parameters' ? [] : [operation])),
  );
