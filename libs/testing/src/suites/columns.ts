import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { startService, type TestService } from '../service/start-service.ts';

/** A service whose records are the rows of a table. */
export interface ServiceOfTable {
  /** Path of the bundle. */
  main: string;
  table: string;
  /** Path of the list of records. */
  list: string;
  /** File that says what a record is: `{ "id", "title" }`. */
  readme: string;
}

/** The part of a list's OpenAPI document that the tests read. */
interface ListDocument {
  paths: Record<string, { get: { responses: { 200: { content: { 'application/json': { schema: Schema } } } } } }>;
  components: { schemas: Record<string, Schema> };
}
type Schema = { $ref: string } | { items: Schema } | { properties: Record<string, Schema> };

/** Declares the tests that the table, the shape of a record and the README name the same columns. */
export function testColumns({ main, table, list, readme }: ServiceOfTable) {
  let service: TestService;
  let properties: string[];
  beforeAll(async () => {
    service = await startService(main);
    const { body } = await service.request('GET', '/openapi.json');
    properties = recordProperties(body as ListDocument, list);
  });
  afterAll(() => service.stop());

  describe(`The columns of ${table}`, () => {
    test('after the migrations are the properties of a record', async () => {
      const { rows } = await sql<{ name: string }>`
        select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
      `.execute(service.db);
      expect({ columns: rows.map(({ name }) => name).sort() }).toEqual({ columns: [...properties].sort() });
    });

    test('are those that the README says a record has', () => {
      const [, names] = /`\{ ("\w+"(?:, "\w+")*) \}`/.exec(readFileSync(readme, 'utf8')) ?? [];
      expect({ readme: names?.replaceAll('"', '').split(', ') }).toEqual({ readme: properties });
    });
  });
}

/** Names of the properties of a record in a list, which is an array or the `data` of an object. */
function recordProperties({ paths, components }: ListDocument, list: string): string[] {
  const propertiesOf = (schema: Schema): string[] => {
    if ('$ref' in schema) return propertiesOf(components.schemas[schema.$ref.split('/').at(-1)!]!);
    if ('items' in schema) return propertiesOf(schema.items);
    return schema.properties.data ? propertiesOf(schema.properties.data) : Object.keys(schema.properties);
  };
  return propertiesOf(paths[list]!.get.responses[200].content['application/json'].schema);
}
