import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkRowCounts,
  countOpenChanges,
  countRows,
  errorCode,
  type Database,
  foldRowCounts,
  MAX_FOLDED_CHANGES,
  type RowCountCheck,
  type RowCounts,
} from '@rest-services/database';
import type { FastifyInstance } from 'fastify';

/** Delay between two folds while there are changes: a first page then adds up a few hundred of them at most. */
const FOLD_DELAY_MS = 250;

/** Delay while there are none. */
const IDLE_DELAY_MS = 1_000;

/** Delay between two checks of some thousand rows each, which take about 5 ms. */
const CHECK_DELAY_MS = 10_000;

/** What the checks have found, by table. */
export interface RowCountState {
  /** Number of changes that no fold has added to the counts, up to 100,000, at the last check. */
  openChanges: ReadonlyMap<string, number>;
  /** Unix time in seconds of the last fold that left no change behind which it could have added. */
  foldedAt: ReadonlyMap<string, number>;
  /** Blocks of ids whose counts differ from their rows. */
  inexactBlocks: ReadonlyMap<string, ReadonlySet<number>>;
  /** Number of rows at the last check. */
  totals: ReadonlyMap<string, number>;
}

/**
 * Folds and checks row counts in the background from the time when `app` listens until it closes.
 * @returns what the checks have found
 */
export function maintainRowCounts<Tables>(
  app: FastifyInstance,
  db: Database<Tables>,
  rowCounts: RowCounts[],
): RowCountState {
  const inexactBlocks = new Map(rowCounts.map(({ table }) => [table, new Set<number>()]));
  const totals = new Map<string, number>();
  const openChanges = new Map<string, number>();
  const foldedAt = new Map<string, number>();
  const closing = new AbortController();

  app.addHook('onListen', (done) => {
    for (const counts of rowCounts) {
      void fold(counts);
      void check(counts);
    }
    done();
  });
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });

  async function fold(counts: RowCounts) {
    let logged: string | undefined;
    for (let folded = 0; await elapsed(folded > 0 ? FOLD_DELAY_MS : IDLE_DELAY_MS);) {
      try {
        folded = await foldRowCounts(db, counts);
        if (folded < MAX_FOLDED_CHANGES) foldedAt.set(counts.table, Date.now() / 1_000);
        logged = undefined;
      } catch (error) {
        folded = 0;
        // Once, not each second of an outage.
        if (logged !== errorCode(error))
          app.log.error({ err: error, table: counts.table }, 'Row counts are not folded, so that pages get slower');
        logged = errorCode(error);
      }
    }
  }

  async function check(counts: RowCounts) {
    const { table } = counts;
    const blocks = inexactBlocks.get(table)!;
    let last: number | undefined;
    do {
      // A block that differed is checked again until it is exact, or has neither rows nor counts.
      const [suspect] = blocks;
      try {
        const result = await checkRowCounts(db, counts, suspect === undefined ? last : suspect - 1);
        last = result?.block;
        if (suspect !== undefined && last !== suspect) blocks.delete(suspect);
        if (result?.isExact === false) {
          if (!blocks.has(result.block)) logInexact(table, result);
          blocks.add(result.block);
        } else if (result) blocks.delete(result.block);
        totals.set(table, await countRows(db, counts));
        openChanges.set(table, await countOpenChanges(db, counts));
      } catch {
        // Requests and probes report a database that does not respond.
      }
    } while (await elapsed(CHECK_DELAY_MS));
  }

  function logInexact(table: string, { block, counted, present }: RowCountCheck) {
    const [firstId, lastId] = [block * 2 ** 14, (block + 1) * 2 ** 14 - 1];
    app.log.error(
      { table, firstId, lastId, counted, present },
      'Row counts differ from the rows. Run "node main.js recount".',
    );
  }

  /** @returns whether `app` is still open after that time */
  const elapsed = (ms: number) => sleep(ms, true, { signal: closing.signal, ref: false }).catch(() => false);

  return { inexactBlocks, totals, openChanges, foldedAt };
}
