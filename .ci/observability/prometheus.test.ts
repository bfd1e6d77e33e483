import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { freePort } from '@rest-services/local-postgres';
import { processesOf, sendJson } from '@rest-services/testing';
import { startProgram } from '../system/program.ts';

const folder = join(import.meta.dirname, '../../docker/observability');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const processes = processesOf(join(import.meta.dirname, '../../apps/items/dist/main.js'));

interface Result {
  status: string;
  error?: string;
  data: { result: unknown[] };
}

test('Prometheus loads the rules, scrapes a service, and runs each query of the dashboard', async () => {
  const url = await processes.start({ DATABASE_READ_URL: processes.database.url }).listening();
  const port = await freePort();
  const config = read('prometheus.yml')
    .replace(/targets: .*/, `targets: ['${new URL(url).host}']`)
    .replaceAll('15s', '1s');
  const prometheus = await startProgram(
    'prometheus',
    [
      '--config.file=FOLDER/prometheus.yml',
      '--storage.tsdb.path=FOLDER/data',
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { 'prometheus.yml': config, 'rules.yml': read('rules.yml') },
    port,
  );
  const query = async (expr: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expr)}`);
    return (await response.json()) as Result;
  };
  /** Waits for a result, while requests go on. */
  const becomesTrue = async (expr: string) => {
    while ((await query(expr)).data.result.length === 0) {
      await sendJson(url, 'GET', '/v1/items/1');
      await sleep(100);
    }
  };
  try {
    // It listens before it answers queries.
    while (!(await fetch(`http://127.0.0.1:${port}/-/ready`)).ok) await sleep(100);
    await becomesTrue('up == 1');
    await becomesTrue('service_ready == 1');
    await becomesTrue('database_table_rows');
    await becomesTrue('job:http_request_slow:ratio_rate5m');
    const dashboard = JSON.parse(read('grafana/dashboard.json')) as {
      panels: { title: string; targets?: { expr: string }[] }[];
      annotations: { list: { expr: string }[] };
    };
    const filled = (expr: string) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*').replaceAll('$instance', '.*');
    for (const { title, targets = [] } of [
      ...dashboard.panels,
      { title: 'Releases', targets: dashboard.annotations.list },
    ])
      for (const { expr } of targets)
        expect([title, await query(filled(expr))]).toEqual([title, expect.objectContaining({ status: 'success' })]);
    // Those of failures have nothing to show.
    const empty = dashboard.panels.filter(({ targets }) => targets);
    const shown = await Promise.all(
      empty.map(async ({ title, targets }) =>
        (await query(filled(targets![0]!.expr))).data.result.length > 0 ? title : [],
      ),
    );
    expect(empty.map(({ title }) => title).filter((title) => !shown.includes(title))).toEqual([
      'Failed requests',
      'Part that failed; the objective is 0.001',
      'Not valid HTTP, and connections dropped',
    ]);
  } finally {
    await prometheus.stop();
  }
});
