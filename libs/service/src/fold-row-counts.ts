import { setTimeout as sleep } from 'node:timers/promises';
import {
  foldRowCounts,
  MAX_FOLDED_CHANGES,
  measureRowCounts,
  type Database,
  type RowCounts,
} from '@rest-services/database';
import type { FastifyInstance } from 'fastify';

/** Delay between two folds while there are changes: a first page then adds up a few hundred of them at most. */
const FOLD_DELAY_MS = 250;

/** Delay while there are none, and after a failure. */
const IDLE_DELAY_MS = 1_000;

const MEASURE_INTERVAL_MS = 10_000;

/** State of the row counts, by table. */
export interface RowCountState {
  /** Number of rows at the last measurement. */
  totals: ReadonlyMap<string, number>;
  /** Number of changes that no fold has added to the counts, up to 100,000, at the last measurement. */
  openChanges: ReadonlyMap<string, number>;
  /** Unix time in seconds of the last fold that left no change behind which it could have added. */
  foldedAt: ReadonlyMap<string, number>;
}

/** Folds row counts in the background from the time when `app` listens until it closes. */
export function foldInBackground<Tables>(
  app: FastifyInstance,
  db: Database<Tables>,
  rowCounts: RowCounts[],
  onFailure: (error: unknown) => void,
): RowCountState {
  const totals = new Map<string, number>();
  const openChanges = new Map<string, number>();
  const foldedAt = new Map<string, number>();
  const closing = new AbortController();

  app.addHook('onListen', (done) => {
    for (const counts of rowCounts) void foldRepeatedly(counts);
    done();
  });
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });

  async function foldRepeatedly(counts: RowCounts) {
    const { table } = counts;
    let measuredAt = -Infinity;
    let folded: number;
    do {
      folded = 0;
      try {
        if (performance.now() - measuredAt > MEASURE_INTERVAL_MS) {
          const measured = await measureRowCounts(db, counts);
          measuredAt = performance.now();
          totals.set(table, measured.total);
          openChanges.set(table, measured.openChanges);
        }
        folded = await foldRowCounts(db, counts);
        if (folded < MAX_FOLDED_CHANGES) foldedAt.set(table, Date.now() / 1_000);
      } catch (error) {
        if (!closing.signal.aborted) onFailure(error);
      }
    } while (await elapsed(folded > 0 ? FOLD_DELAY_MS : IDLE_DELAY_MS));
  }

  /** @returns whether `app` is still open after that time */
  const elapsed = (ms: number) => sleep(ms, true, { signal: closing.signal, ref: false }).catch(() => false);

  return { totals, openChanges, foldedAt };
}
