import { setTimeout as sleep } from 'node:timers/promises';
import { createdId, isUnknown, rowsOf, type History, type Operation, type Request, type Row } from '../history.ts';
import type { Random } from './random.ts';
import type { Send } from './send.ts';

const STATUSES = ['Doing', 'Finished'];

/** Writes and reads meet at the items that were created last. */
const RECENT = 12;

/** An item with more writes of unknown outcome gets no more writes: each doubles what a check must try. */
const MAX_UNKNOWN_WRITES = 3;

/** Limit of a list that has all items. */
export const WHOLE_LIST = 100_000;

/** Delay of a client after an error. Otherwise a refusing service gets thousands of requests. */
const DELAY_AFTER_ERROR_MS = 30;

/** Ids that clients have learned from responses. */
export class KnownItems {
  readonly #ids = new Set<number>();
  readonly #unknownWrites = new Map<number, number>();
  readonly #mayChange: (row: Row) => boolean;
  #walks = 0;

  /** @param mayChange whether clients may change and delete an item that a list shows */
  constructor(mayChange: (row: Row) => boolean = () => true) {
    this.#mayChange = mayChange;
  }

  learn(operation: Operation) {
    const { key } = operation;
    const created = createdId(operation);
    if (created !== undefined) this.#ids.add(created);
    for (const row of rowsOf(operation)) if (this.#mayChange(row)) this.#ids.add(row.id);
    if (key !== undefined && operation.method !== 'GET' && isUnknown(operation)) {
      this.#unknownWrites.set(key, (this.#unknownWrites.get(key) ?? 0) + 1);
    }
  }

  pick(random: Random, oldest: number): number | undefined {
    const ids = [...this.#ids];
    return random.pick(random.chance(oldest) ? ids : ids.slice(-RECENT));
  }

  mayWrite(id: number) {
    return (this.#unknownWrites.get(id) ?? 0) < MAX_UNKNOWN_WRITES;
  }

  nextWalk() {
    return (this.#walks += 1);
  }
}

interface ClientOptions {
  name: string;
  random: Random;
  /** Base URLs of the services. */
  urls: string[];
  known: KnownItems;
  history: History;
  send: Send;
  seconds: number;
  /** Minimum number of requests, which may take more than the seconds. */
  requests: number;
}

/** Sends one request after another, each to any of the services, until the time has passed. */
export async function runClient({ name, random, urls, known, history, send, seconds, requests }: ClientOptions) {
  let titles = 0;
  const newTitle = () => `${name}-${(titles += 1)}`;

  async function perform(request: Request) {
    const service = random.integer(0, urls.length - 1);
    const operation = await history.record(name, service, urls[service]!, request, send);
    known.learn(operation);
    if (isUnknown(operation)) await sleep(DELAY_AFTER_ERROR_MS);
    return operation;
  }

  /** Reads page after page until one is not full. */
  async function walk() {
    const number = known.nextWalk();
    const limit = random.integer(15, 70);
    for (let page = 1; ; page += 1) {
      const operation = await perform({ ...list(page, limit), walk: number });
      if (isUnknown(operation) || rowsOf(operation).length < limit) return;
    }
  }

  async function act() {
    const kind = random.weighted({
      create: 20,
      read: 30,
      update: 25,
      delete: 8,
      list: 3,
      page: 6,
      walk: 3,
      summary: 2,
    });
    if (kind === 'walk') return walk();
    if (kind === 'page') return perform(list(random.integer(1, 8), random.integer(1, 40)));
    if (kind === 'list') return perform(list(1, WHOLE_LIST));
    if (kind === 'summary') return perform({ kind, method: 'GET', path: '/v1/items/summary' });
    const key = kind === 'create' ? undefined : known.pick(random, kind === 'delete' ? 0.02 : 0.2);
    if (key === undefined) {
      return perform({ kind: 'create', method: 'POST', path: '/v1/items', body: { title: newTitle() } });
    }
    const path = `/v1/items/${key}`;
    if (kind === 'read' || !known.mayWrite(key)) return perform({ kind: 'read', method: 'GET', path, key });
    if (kind === 'delete') return perform({ kind, method: 'DELETE', path, key });
    const [withTitle, withStatus] = random.pick([
      [true, false],
      [false, true],
      [true, true],
    ]);
    const body = { ...(withTitle && { title: newTitle() }), ...(withStatus && { status: random.pick(STATUSES) }) };
    return perform({ kind: 'update', method: 'PUT', path, key, body });
  }

  for (let sent = 0; sent < requests || history.now() < seconds * 1_000; sent += 1) {
    await act();
    await sleep(random.integer(0, 12));
  }
}

/** A request of a page. */
export function list(page: number, limit: number): Request {
  const position = { offset: (page - 1) * limit, limit };
  return { kind: 'list', method: 'GET', path: `/v1/items?page=${page}&limit=${limit}`, position };
}
