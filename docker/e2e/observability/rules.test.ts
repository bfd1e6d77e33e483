import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { dashboardQueries, folder, read, rules } from './files.ts';

const alerts = rules.flatMap(({ alert }) => alert ?? []);

const copy = mkdtempSync(join(tmpdir(), 'rules-'));
afterAll(() => rmSync(copy, { recursive: true }));

/** @throws Error with what promtool says when it finds something */
const promtool = (...args: string[]) =>
  execFileSync('promtool', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

/** @returns the path of a file in a folder of this test */
function written(name: string, text: string) {
  writeFileSync(join(copy, name), text);
  return join(copy, name);
}

test('promtool accepts the configuration, the rules, and each query of the dashboard', () => {
  promtool('check', 'config', 'prometheus.yml');
  promtool('check', 'rules', 'rules.yml');
  const recordings = dashboardQueries.map((expr, index) => ({
    record: `dashboard:${index}`,
    expr: expr.replaceAll('$__rate_interval', '1m'),
  }));
  const groups = [{ name: 'dashboard', rules: recordings }];
  promtool('check', 'rules', written('dashboard.yml', JSON.stringify({ groups })));
});

test('rules.test.yml has series for each alert that fire it, and others that do not', () => {
  promtool('test', 'rules', 'rules.test.yml');
  const { tests } = parse(read('rules.test.yml')) as {
    tests: { promql_expr_test: { expr: string; exp_samples: object[] }[] }[];
  };
  const tried = tests.flatMap((each) => each.promql_expr_test);
  const alertsThat = (fires: boolean) =>
    tried.flatMap(({ expr, exp_samples: samples }) =>
      samples.length > 0 === fires ? /alertname="(\w+)"/.exec(expr)![1]! : [],
    );
  for (const fires of [true, false]) expect([...new Set(alertsThat(fires))].sort()).toEqual([...alerts].sort());
});

test('no alert fires for the same series of another team', () => {
  const others = read('rules.test.yml')
    .replace('rule_files: [rules.yml]', `rule_files: ['${join(folder, 'rules.yml')}']`)
    .replaceAll('part_of="rest-services", ', '')
    // Ours are absent then.
    .replaceAll('TargetsAbsent', 'None')
    .replaceAll(/exp_samples: \[.*\]/g, 'exp_samples: []');
  promtool('test', 'rules', written('rules.test.yml', others));
});

test('the runbook of each alert is a paragraph of README.md', () => {
  const headings = [...read('README.md').matchAll(/^### (\w+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(alerts);
  const anchors = rules.flatMap(({ annotations }) => annotations?.runbook.split('#')[1] ?? []);
  expect(anchors).toEqual(alerts.map((alert) => alert.toLowerCase()));
});
