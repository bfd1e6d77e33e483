import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { processesOf } from '@rest-services/testing';
import { promtool } from './promtool.ts';
import { labelsByName, scrape } from './scrape.ts';

const workspace = join(import.meta.dirname, '../..');
const processes = processesOf(join(workspace, 'apps/items/dist/main.js'));

/** Starts the items service with every optional metric. */
const start = async () => processes.start({ DATABASE_READ_URL: processes.database.url }).listening();

test('promtool check metrics finds nothing in /metrics', async () => {
  expect(await promtool(['check', 'metrics'], await scrape(await start()))).toEqual({ code: 0, output: '' });
});

test('docker/metrics.md lists the metrics that a service has, each with its labels', async () => {
  const url = await start();
  // A 400 of Node.js itself, which has its own metric.
  await fetch(`${url}/v1/items`, { headers: { 'x-long': 'a'.repeat(20_000) } });
  const page = readFileSync(join(workspace, 'docker/metrics.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `([a-z_]+(?:\*|\{[a-z_,]+\})?)` /gm)].map(([, name]) => name!);
  const families = listed.flatMap((name) => (name.endsWith('*') ? name.slice(0, -1) : []));
  expect(families).toEqual(['nodejs_', 'process_']);
  const present = [...labelsByName(await scrape(url))]
    .filter(([name]) => !families.some((family) => name.startsWith(family)))
    .map(([name, labels]) => (labels.size > 0 ? `${name}{${[...labels].join(',')}}` : name));
  expect(listed.filter((name) => !name.endsWith('*')).sort()).toEqual(present.sort());
});
