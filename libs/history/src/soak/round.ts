import { FINAL_CLIENT, findViolations } from '../checks/checks.ts';
import type { Violation } from '../checks/violation.ts';
import { KnownItems, list, runClient, WHOLE_LIST } from '../clients/clients.ts';
import { Random } from '../clients/random.ts';
import { openClient, type Send } from '../clients/send.ts';
import { directOperation, History, isUnknown, rowsOf, type Operation, type Row } from '../history.ts';

const CLIENTS = 8;

/** Start of the titles of the round's own items, which are deleted at its end. */
const TITLE_PREFIX = 'soak-';

export interface Round {
  violations: Violation[];
  operations: number;
  /** Requests without a response, or with one of 500 and more. */
  failed: number;
  longestMs: number;
}

/**
 * Runs clients on replicas of the items service, checks what they saw, and deletes what they created. Other clients must not write
 * during the round, because the checks know nothing of their writes.
 * @param urls base URLs of the replicas
 * @param seed decides what the clients do
 */
export async function runRound(urls: string[], seed: number, seconds: number): Promise<Round> {
  const random = new Random(seed);
  const history = new History();
  const isOurs = ({ title }: Row) => title.startsWith(TITLE_PREFIX);
  const known = new KnownItems(isOurs);
  const { send, close } = openClient();
  try {
    const present = rowsOf(await history.record('setup', 0, urls[0]!, list(1, WHOLE_LIST), send));
    history.operations.unshift(...present.flatMap(earlierWrites));

    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, index) => {
        const client = openClient();
        const name = `${TITLE_PREFIX}${seed}-${index + 1}`;
        const options = { name, random: random.fork(), urls, known, history, seconds, minKnown: 0 };
        await runClient({ ...options, send: client.send });
        client.close();
      }),
    );
    const { operations } = history;
    const sent = operations.filter(({ startedAt }) => startedAt >= 0);
    const round = {
      operations: sent.length,
      failed: sent.filter(isUnknown).length,
      longestMs: Math.max(...sent.map(({ startedAt, endedAt }) => endedAt - startedAt)),
    };
    const left = await readFinalState(history, urls, send);
    const violations = findViolations(history);
    for (const { id } of left.filter(isOurs))
      await send({ url: urls[0]!, method: 'DELETE', path: `/v1/items/${id}`, requestId: `${TITLE_PREFIX}${id}` });
    return { ...round, violations };
  } finally {
    close();
  }
}

/** The writes that would have made an item that is there. */
function earlierWrites({ id, title, status }: Row): Operation[] {
  const common = { client: 'setup', startedAt: -1, endedAt: 0 };
  return [directOperation('create', id, { title }, common), directOperation('update', id, { status }, common)];
}

/** Reads everything from each replica, when no write is in flight. @returns the items that are there */
async function readFinalState(history: History, urls: string[], send: Send) {
  let rows: Row[] = [];
  for (const [service, url] of urls.entries()) {
    rows = rowsOf(await history.record(FINAL_CLIENT, service, url, list(1, WHOLE_LIST), send));
    await history.record(
      FINAL_CLIENT,
      service,
      url,
      { kind: 'summary', method: 'GET', path: '/v1/items/summary' },
      send,
    );
  }
  return rows;
}
