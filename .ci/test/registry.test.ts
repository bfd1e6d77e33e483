import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as clients from '@rest-services/client';
import { services } from '@rest-services/workspace';

const workspace = join(import.meta.dirname, '../..');
const read = (...path: string[]) => readFileSync(join(workspace, ...path), 'utf8');

/** Cells of each row of a document's tables. */
function tableRows(document: string) {
  const rows = document.split('\n').filter((line) => line.startsWith('| '));
  return rows.map((row) => row.replace(/^\| | *\|$/g, '').split(/ *\| */));
}

const registered = services();

test('Each service has a port of its own on a machine that runs all of them', () => {
  const ports = registered.map(({ localPort }) => localPort);
  expect(ports).toEqual([...new Set(ports)]);
});

test.each(registered)('README.md says where $name is, and its port by default', ({ name, port, localPort, path }) => {
  const service = `[${name}](apps/${name}/README.md)`;
  expect(tableRows(read('README.md'))).toContainEqual([service, `http://localhost:${localPort}${path}`, `${port}`]);
});

test('libs/client exports a client of each service', () => {
  const camelCase = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const expected = registered.map(({ name }) => `${camelCase(name)}Client`);
  const exported = Object.keys(clients).filter((name) => name.endsWith('Client'));
  expect(exported.sort()).toEqual(expected.sort());
});
