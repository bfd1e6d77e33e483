import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openTestConnection } from '../database/open-test-connection.ts';
import { sendJson } from '../http/send-json.ts';
import type { SharedProcess } from '../service/processes.ts';

/** Where the columns of a record are named. */
export interface ColumnsOfTable {
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

/** Declares the test that the table, the shape of a record and the README name the same columns. */
export function testColumns(shared: SharedProcess, { table, list, readme }: ColumnsOfTable) {
  test(`the columns of ${table} are the properties of a record, and those that the README names`, async () => {
    const { body } = await sendJson(shared.url, 'GET', '/openapi.json');
    const properties = recordProperties(body as ListDocument, list);
    const db = openTestConnection(shared.database.url);
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
    `.execute(db);
    await db.destroy();
    const columns = rows.map(({ name }) => name);
    const forgotten = properties
      .filter((name) => !columns.includes(name))
      .map((name) => `${table} has no column ${name}: append a migration to src/database.ts that adds it`);
    expect(forgotten).toEqual([]);
    expect({ columns: columns.sort() }).toEqual({ columns: [...properties].sort() });
    const [, names] = /`\{ ("\w+"(?:, "\w+")*) \}`/.exec(readFileSync(readme, 'utf8')) ?? [];
    expect({ readme: names?.replaceAll('"', '').split(', ') }).toEqual({ readme: properties });
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
