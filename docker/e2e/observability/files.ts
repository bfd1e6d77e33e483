import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const folder = join(import.meta.dirname, '../../observability');
export const read = (file: string) => readFileSync(join(folder, file), 'utf8');

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
  annotations?: { runbook: string };
}

const { groups } = parse(read('rules.yml')) as { groups: { rules: Rule[] }[] };
/** Recordings and alerts of rules.yml. */
export const rules = groups.flatMap((group) => group.rules);

const dashboard = JSON.parse(read('grafana/dashboard.json')) as {
  panels: { targets?: { expr: string }[] }[];
  annotations: { list: { expr: string }[] };
};
/** Queries of the dashboard, with the variables that Grafana replaces. */
export const dashboardQueries = [
  ...dashboard.panels.flatMap(({ targets = [] }) => targets),
  ...dashboard.annotations.list,
].map(({ expr }) => expr);
