import { expect, test } from '@jest/globals';
import { runSeed } from '../src/run-seed.ts';
import { withService, type Plant } from './service.ts';

const SEEDS = 10;

/** Minimum number of requests of each client. */
const REQUESTS = 80;

/** Runs a seed on a new service. */
const run = (seed: number, plant?: Plant) =>
  withService(
    (url, databaseUrl) =>
      runSeed({ seed, seconds: 0, minKnown: REQUESTS, urls: [url], databaseUrl: () => databaseUrl }),
    plant,
  );

test('A service without errors has no violations', async () => {
  for (const seed of [1, 2]) expect((await run(seed)).violations).toEqual([]);
});

test.each<[string, check: string, shown: RegExp, Plant]>([
  [
    'an If-Match that ignores a write since the row was read',
    'items are linearizable',
    / if-match /,
    { text: / and (\S*xmin) = (\$\{[^}]*\})/g, by: ' and $1 in ($1, $2)' },
  ],
  [
    'a fold of the row counts that does not wait for open transactions',
    'totals equal rows',
    / total /,
    { in: 'item_count_fold', text: /case when is_settled then .* end,/g, by: 'last,' },
  ],
  [
    'a key that is forgotten',
    'a key makes one item',
    /\n.* idempotency-key /,
    { text: "interval '24 hours'", by: "interval '20 milliseconds'" },
  ],
  [
    'a page that skips a row',
    'walks neither skip nor repeat',
    / [02] times\n/,
    { in: 'item_id_at', text: 'offset step.missing', by: 'offset step.missing + (random() < 0.1)::integer' },
  ],
  [
    'a batch that mixes up two results',
    'items are linearizable',
    / (GET|POST) /,
    { text: 'order by ordinality', by: 'order by ordinality / 2, ordinality desc' },
  ],
  [
    'a write that is acknowledged though another one had locked its row',
    'items are linearizable',
    / (PUT|DELETE) .* 200 /,
    { text: '!row.is_changed', by: 'false' },
  ],
  [
    'a read of an older state',
    'items are linearizable',
    / GET /,
    {
      text: 'items.findById(params.id)',
      by: `(id => (items.cache ??= new Map()).get(id) ??
        (setTimeout(() => items.cache.delete(id), 20), items.cache.set(id, items.findById(id)).get(id)))(params.id)`,
    },
  ],
])('The checker finds %s within ten seeds', async (_, check, shown, plant) => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { violations } = await run(seed, plant);
    const violation = violations.find((each) => each.check === check);
    if (!violation) continue;
    expect([violation.message, ...violation.lines].join('\n')).toMatch(shown);
    return;
  }
  throw new Error(`No seed finds that ${check}`);
});
