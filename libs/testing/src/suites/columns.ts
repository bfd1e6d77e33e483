import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { readDocument, type ValueSchema } from '../service/document.ts';
import type { SharedProcess } from '../service/processes.ts';

/** Declares the test that the table, the shape of a record in the list and the app's README name the same columns. */
export function testColumns(shared: SharedProcess, table: string, list: string) {
  test(`the columns of ${table} are the properties of a record, and those that the README names`, async () => {
    const { paths } = await readDocument(shared.url);
    const properties = recordProperties(paths[list]!['get']!.responses[200]!.content!['application/json']!.schema);
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
    `.execute(shared.db);
    const columns = rows.map(({ name }) => name);
    expect({ columns: columns.sort() }).toEqual({ columns: properties.toSorted() });
    const [, names] = /`\{ ("\w+"(?:, "\w+")*) \}`/.exec(readFileSync('README.md', 'utf8')) ?? [];
    expect({ readme: names?.replaceAll('"', '').split(', ') }).toEqual({ readme: properties });
  });
}

/** Names of the properties of a record in a list, which is an array or the `data` of an object. */
function recordProperties({ items, properties = {} }: ValueSchema): string[] {
  const inner = items ?? properties.data;
  return inner ? recordProperties(inner) : Object.keys(properties);
}
