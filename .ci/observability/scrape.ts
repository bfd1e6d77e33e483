/** Metrics that have a value only after a check or a fold in the background. */
const FOUND_OUT = ['database_table_rows', 'database_migrations', 'database_row_counts_folded_timestamp_seconds'];

/** Metrics of a service, once they hold all that a check in the background finds out. */
export async function scrape(url: string) {
  // Until it is there, no request has a route and a status.
  await fetch(`${url}/v1/items`);
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    if (FOUND_OUT.every((name) => metrics.includes(`\n${name}{`))) return metrics;
  }
}

/** Labels of each metric in Prometheus' format. A histogram stands under its own name, without `le`. */
export function labelsByName(metrics: string) {
  const found = new Map<string, Set<string>>();
  let name = '';
  for (const line of metrics.split('\n')) {
    if (line.startsWith('# TYPE ')) {
      name = line.split(' ')[2]!;
      found.set(name, new Set());
    } else if (!line.startsWith('#')) {
      const [, labels = ''] = /^\w+\{(.*)\} /.exec(line) ?? [];
      for (const [, label] of labels.matchAll(/(\w+)="/g))
        if (label !== 'le' && label !== 'quantile') found.get(name)!.add(label!);
    }
  }
  return found;
}
