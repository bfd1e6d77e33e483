// Reads a list of a million items from the built service, whole and half, and reports time to first byte and memory.
//   npx nx large-list items
import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { startForBench } from '@rest-services/testing/bench';
import pidusage from 'pidusage';
import pg from 'pg';

const rows = 1_000_000;
const limits = { firstByteMs: 100, rssMb: 200 };

const { service, databaseUrl, stop } = await startForBench(join(import.meta.dirname, '..'), {
  NODE_ENV: 'production',
  SHUTDOWN_DELAY_MS: '0',
});
const database = new pg.Client({ connectionString: databaseUrl });
try {
  const url = await service.listening();
  await database.connect();
  console.log(`Inserting ${rows.toLocaleString('en')} items …`);
  await database.query(
    `insert into item (title) select 'An item with number ' || n from generate_series(1, $1::int) n`,
    [rows],
  );
  await database.query('vacuum analyze item');

  let peakMb = 0;
  const sampling = setInterval(() => {
    void pidusage(service.child.pid!).then(({ memory }) => (peakMb = Math.max(peakMb, memory / 2 ** 20)));
  }, 50);

  const started = performance.now();
  const response = await openList(url);
  const chunks: Buffer[] = [];
  let firstByteMs: number | undefined;
  for await (const chunk of response) {
    firstByteMs ??= performance.now() - started;
    chunks.push(chunk as Buffer);
  }
  const seconds = (performance.now() - started) / 1_000;
  const whole = Buffer.concat(chunks);
  const items = JSON.parse(whole.toString()) as { id: number }[];

  const half = await openList(url);
  let bytes = 0;
  for await (const chunk of half) {
    bytes += (chunk as Buffer).length;
    if (bytes > whole.length / 2) break;
  }
  // Breaking out of the loop destroyed the connection; the next request is served after the service has noticed.
  await (await fetch(`${url}/v1/items/1`)).text();
  const { rows: inUse } = await database.query(
    `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
  );
  clearInterval(sampling);

  console.table({
    'items in valid JSON': { measured: items.length, wanted: rows },
    'time to first byte, ms': { measured: Math.round(firstByteMs!), wanted: `< ${limits.firstByteMs}` },
    'whole list, s': { measured: Number(seconds.toFixed(1)), wanted: '' },
    'peak memory of the process (RSS), MB': { measured: Math.round(peakMb), wanted: `< ${limits.rssMb}` },
    'connections in use after a reader left half-way': { measured: inUse.length, wanted: 0 },
  });
  const isGood =
    items.length === rows && firstByteMs! < limits.firstByteMs && peakMb < limits.rssMb && inUse.length === 0;
  process.exitCode = isGood ? 0 : 1;
} finally {
  await database.end();
  await stop();
}

async function openList(url: string) {
  const [response] = (await once(get(`${url}/v1/items?limit=${rows}`), 'response')) as [IncomingMessage];
  return response;
}
