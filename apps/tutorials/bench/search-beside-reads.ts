// Reads tutorials by id while twenty clients search 600,000 titles, through the built service.
//   npx nx search-beside-reads tutorials
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startForBench } from '@rest-services/testing/bench';
import pg from 'pg';

const rows = 600_000;
const clients = 20;
const readsMs = 10_000;
const limitMs = 100;
/** Titles contain hexadecimal digits, few other letters, and at most 255 characters. */
const searches: Record<string, () => string> = {
  none: () => '',
  'two letters of no title': () => pick('qxyz') + pick('jkquxyz'),
  'three letters of no title': () => pick('qxyz') + pick('jkquxyz') + pick('jkquxyz'),
  'a letter of each title': () => pick('eghilnrtw'),
  '255 characters': () => randomBytes(128).toString('hex').slice(1),
  '2,000 characters': () => randomBytes(1_000).toString('hex'),
};

const { service, databaseUrl, stop } = await startForBench(join(import.meta.dirname, '..'), { LOG_LEVEL: 'info' });
const database = new pg.Client({ connectionString: databaseUrl });
try {
  const url = `${await service.listening()}/api/tutorials`;
  await database.connect();
  console.log(`Inserting ${rows.toLocaleString('en')} tutorials …`);
  await database.query(
    `insert into tutorial (title) select 'Learning ' || left(md5(n::text), 8) || ' with ' || right(md5(n::text), 6) from generate_series(1, $1::int) n`,
    [rows],
  );
  await database.query('vacuum analyze tutorial');

  const results: Record<string, Awaited<ReturnType<typeof readBeside>>> = {};
  for (const [name, text] of Object.entries(searches)) results[name] = await readBeside(url, text);
  console.table(results);
  const isGood = Object.values(results).every((result) => result['p99, ms'] < limitMs && result.failed === 0);
  console.log(isGood ? `Every p99 is below ${limitMs} ms.` : `Not every read took less than ${limitMs} ms.`);
  process.exitCode = isGood ? 0 : 1;
} finally {
  await database.end();
  await stop();
}

/** @param text makes the text of a search; an empty one ends the searches */
async function readBeside(url: string, text: () => string) {
  const statuses = new Map<number, number>();
  let isOver = false;
  const searching = Array.from({ length: clients }, async () => {
    for (let title = text(); title && !isOver; title = text()) {
      const response = await fetch(`${url}?title=${title}`);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      await response.body?.cancel();
    }
  });
  const times: number[] = [];
  let failed = 0;
  const end = performance.now() + readsMs;
  for (let started = performance.now(); started < end; started = performance.now()) {
    const response = await fetch(`${url}/${1 + Math.floor(Math.random() * rows)}`);
    await response.text();
    times.push(performance.now() - started);
    if (response.status !== 200) failed += 1;
  }
  isOver = true;
  await Promise.all(searching);
  times.sort((a, b) => a - b);
  const percentile = (share: number) => Number(times[Math.floor(times.length * share)]!.toFixed(1));
  return {
    reads: times.length,
    failed,
    'p50, ms': percentile(0.5),
    'p99, ms': percentile(0.99),
    searches: [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
  };
}

function pick(letters: string) {
  return letters.charAt(Math.floor(Math.random() * letters.length));
}
