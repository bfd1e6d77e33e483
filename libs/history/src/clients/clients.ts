import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createdId, isDone, isUnknown, rowsOf } from '../history.ts';
import type { History, Operation, Request, Row } from '../history.ts';
import type { Random } from './random.ts';
import type { Send } from './send.ts';

export const STATUSES = ['Doing', 'Finished'];

/** Writes and reads meet at the items that were created last. */
const RECENT = 12;

/** An item with more writes of unknown outcome gets no more writes: each doubles what a check must try. */
const MAX_UNKNOWN_WRITES = 3;

/** Limit of a list that has all items. */
export const WHOLE_LIST = 100_000;

/** Delay of a client after an error. Otherwise a refusing service gets thousands of requests. */
const DELAY_AFTER_ERROR_MS = 30;

/** Maximum number of times that a client sends a request again with its key. */
const MAX_REPETITIONS = 4;

/** Maximum delay before it does so. */
const REPETITION_DELAY_MS = 100;

/** Maximum time after the seconds of a run in which a client goes on for outcomes that it knows. */
const MAX_EXTRA_MS = 60_000;

/** Ids and tags that clients have learned from responses. */
export class KnownItems {
  readonly #ids = new Set<number>();
  readonly #tags = new Map<number, string>();
  readonly #unknownWrites = new Map<number, number>();
  readonly #mayChange: (row: Row) => boolean;
  #walks = 0;

  /** @param mayChange whether clients may change and delete an item that a list shows */
  constructor(mayChange: (row: Row) => boolean = () => true) {
    this.#mayChange = mayChange;
  }

  learn(operation: Operation) {
    const { key, kind, response } = operation;
    const created = createdId(operation);
    if (created !== undefined) this.#ids.add(created);
    for (const row of rowsOf(operation)) if (this.#mayChange(row)) this.#ids.add(row.id);
    if (key !== undefined && kind === 'read' && response?.tag && isDone(operation)) this.#tags.set(key, response.tag);
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

  /** The tag that a read of the item has shown last; its version may be outdated. */
  tag(id: number) {
    return this.#tags.get(id);
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
  /** Minimum number of requests whose outcome the client knows. */
  minKnown: number;
}

/**
 * Sends one request after another, each to any of the services, until the time has passed. It goes on until it knows the outcomes of
 * enough requests, and of at least half of them.
 */
export async function runClient({ name, random, urls, known, history, send, seconds, minKnown }: ClientOptions) {
  let titles = 0;
  const newTitle = () => `${name}-${(titles += 1)}`;
  const outcomes = { known: 0, unknown: 0 };

  async function perform(request: Request) {
    const service = random.integer(0, urls.length - 1);
    const operation = await history.record(name, service, urls[service]!, request, send);
    known.learn(operation);
    outcomes[isUnknown(operation) ? 'unknown' : 'known'] += 1;
    if (isUnknown(operation)) await sleep(DELAY_AFTER_ERROR_MS);
    return operation;
  }

  /** Creates an item, mostly with a key, which is sent again after an unknown outcome, at once, without need, or with another body. */
  async function create() {
    const request: Request = { kind: 'create', method: 'POST', path: '/v1/items', body: { title: newTitle() } };
    if (random.chance(0.3)) return perform(request);
    const keyed = { ...request, idempotencyKey: randomUUID() };
    const [first] = await Promise.all([perform(keyed), ...(random.chance(0.1) ? [perform(keyed)] : [])]);
    let last = first;
    for (let sent = 0; sent < MAX_REPETITIONS && (isUnknown(last) || random.chance(0.15)); sent += 1) {
      await sleep(random.integer(0, REPETITION_DELAY_MS));
      last = await perform(random.chance(0.2) ? { ...keyed, body: { title: newTitle() } } : keyed);
    }
    return last;
  }

  /** Changes or deletes an item, mostly the version that was read just now or before, and sometimes twice at once. */
  async function write(kind: 'update' | 'delete', key: number) {
    const path = `/v1/items/${key}`;
    const ifMatch = random.chance(0.6) && (await tagOf(key, path));
    const requests = Array.from({ length: random.chance(0.3) ? 2 : 1 }, (): Request => ({
      ...(kind === 'delete' ? { kind, method: 'DELETE' } : { kind, method: 'PUT', body: newValues() }),
      ...{ path, key, ...(ifMatch && { ifMatch }) },
    }));
    return Promise.all(requests.map(perform));
  }

  async function tagOf(key: number, path: string) {
    if (random.chance(0.3)) return known.tag(key);
    return (await perform({ kind: 'read', method: 'GET', path, key })).response?.tag;
  }

  function newValues() {
    const [withTitle, withStatus] = random.pick([
      [true, false],
      [false, true],
      [true, true],
    ]);
    return { ...(withTitle && { title: newTitle() }), ...(withStatus && { status: random.pick(STATUSES) }) };
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
    if (kind === 'summary') return perform(summary);
    const key = kind === 'create' ? undefined : known.pick(random, kind === 'delete' ? 0.02 : 0.2);
    if (key === undefined || kind === 'create') return create();
    if (kind === 'read' || !known.mayWrite(key)) {
      return perform({ kind: 'read', method: 'GET', path: `/v1/items/${key}`, key });
    }
    return write(kind, key);
  }

  const hasEnough = () => outcomes.known >= Math.max(minKnown, outcomes.unknown);
  const latestEnd = seconds * 1_000 + MAX_EXTRA_MS;
  while (history.now() < seconds * 1_000 || !hasEnough()) {
    if (history.now() > latestEnd)
      throw new Error(`${name} knows only ${outcomes.known} outcomes, and misses ${outcomes.unknown}`);
    await act();
    await sleep(random.integer(0, 12));
  }
}

/** A request of a page. */
export function list(page: number, limit: number): Request {
  const position = { offset: (page - 1) * limit, limit };
  return { kind: 'list', method: 'GET', path: `/v1/items?page=${page}&limit=${limit}`, position };
}

export const summary: Request = { kind: 'summary', method: 'GET', path: '/v1/items/summary' };
