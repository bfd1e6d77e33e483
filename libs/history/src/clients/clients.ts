import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createdId, isDone, isUnknown, list, rowsOf, statusOf } from '../history.ts';
import type { History, Operation, Request, Response } from '../history.ts';
import type { Random } from './random.ts';

export const STATUSES = ['Doing', 'Finished'];

/** Limit of a list that has all items. */
export const WHOLE_LIST = 100_000;

/** What clients do, and how many of 100 times. */
const ACTIONS = { create: 25, read: 30, update: 25, delete: 8, list: 3, page: 9 };
const DECK = Object.entries(ACTIONS).flatMap(([action, count]) =>
  Array<keyof typeof ACTIONS>(count).fill(action as keyof typeof ACTIONS),
);

/** Writes and reads meet at the items that were created last. */
const RECENT = 12;

/** An item with more writes of unknown outcome gets no more writes: each doubles what a check must try. */
const MAX_UNKNOWN_WRITES = 3;

/** Delay of a client after an error. Otherwise a refusing service gets thousands of requests. */
const DELAY_AFTER_ERROR_MS = 30;

/** Maximum number of times that a client sends a request again with its key, and the maximum delay before. */
const MAX_REPETITIONS = 4;
const REPETITION_DELAY_MS = 100;

/** Minimum number of requests whose outcome a client knows: fewer would show little. */
const MIN_KNOWN = 80;

/** Maximum time after all faults in which a client goes on for outcomes that it knows. */
const MAX_EXTRA_MS = 60_000;

/** Timeout of a request: a service responds in 3 s, a frozen one 2 s later. */
const TIMEOUT_MS = 10_000;

/** Ids that clients have learned from responses. */
export class KnownItems {
  readonly #ids = new Set<number>();
  readonly #unknownWrites = new Map<number, number>();

  learn(operation: Operation) {
    const { key, method } = operation;
    for (const id of [createdId(operation) ?? [], rowsOf(operation).map((row) => row.id)].flat()) this.#ids.add(id);
    if (key !== undefined && method !== 'GET' && isUnknown(operation))
      this.#unknownWrites.set(key, (this.#unknownWrites.get(key) ?? 0) + 1);
  }

  /** @param oldest chance that it is any item, not a recent one */
  pick(random: Random, oldest: number): number | undefined {
    const ids = [...this.#ids];
    return random.pick(random.chance(oldest) ? ids : ids.slice(-RECENT));
  }

  mayWrite = (id: number) => (this.#unknownWrites.get(id) ?? 0) < MAX_UNKNOWN_WRITES;
}

/** Sends a request. @throws Error without a whole response: the outcome is unknown */
export async function send(url: string, request: Request, timeoutMs = TIMEOUT_MS): Promise<Response> {
  const { method, path, body, ifMatch, idempotencyKey } = request;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(ifMatch && { 'if-match': ifMatch }),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    },
    body: body ? JSON.stringify(body) : null,
    signal: AbortSignal.timeout(timeoutMs),
  });
  const [total, tag] = ['x-total-count', 'etag'].map((name) => response.headers.get(name) ?? undefined);
  return { status: response.status, total: Number(total), tag, body: await response.json() };
}

interface ClientOptions {
  name: string;
  random: Random;
  /** Base URLs of the services. */
  urls: string[];
  known: KnownItems;
  history: History;
  /** Is aborted when all faults have ended. */
  signal: AbortSignal;
}

/**
 * Sends one request after another, each to any of the services, until all faults have ended. It goes on until it knows the outcomes
 * of enough requests, and of at least half of them.
 */
export async function runClient({ name, random, urls, known, history, signal }: ClientOptions) {
  let titles = 0;
  const newTitle = () => `${name}-${(titles += 1)}`;
  const outcomes = { known: 0, unknown: 0 };

  async function perform(request: Request, service = random.integer(0, urls.length - 1)) {
    // Some clients give up and close the connection, at any moment of the request.
    const timeoutMs = random.chance(0.02) ? random.integer(1, 20) : TIMEOUT_MS;
    const operation = await history.record(name, service, request, send(urls[service]!, request, timeoutMs));
    known.learn(operation);
    outcomes[isUnknown(operation) ? 'unknown' : 'known'] += 1;
    if (isUnknown(operation) || statusOf(operation) === 503) await sleep(DELAY_AFTER_ERROR_MS);
    return operation;
  }

  /**
   * Creates an item, mostly with a key: its request is sent twice at once, to two processes, and again after an error, without need, or
   * with another body.
   */
  async function create() {
    const request: Request = { kind: 'create', method: 'POST', path: '/v1/items', body: { title: newTitle() } };
    if (random.chance(0.3)) return perform(request);
    const keyed = { ...request, idempotencyKey: randomUUID() };
    const first = random.integer(0, urls.length - 1);
    let last = (await Promise.all([perform(keyed, first), perform(keyed, (first + 1) % urls.length)]))[1];
    for (let sent = 0; sent < MAX_REPETITIONS && (!isDone(last) || random.chance(0.15)); sent += 1) {
      await sleep(random.integer(0, REPETITION_DELAY_MS));
      last = await perform(random.chance(0.2) ? { ...keyed, body: { title: newTitle() } } : keyed);
    }
    return last;
  }

  /** Changes or deletes an item, mostly the version that was read just now, and sometimes twice at once. */
  async function write(kind: 'update' | 'delete', key: number) {
    const path = `/v1/items/${key}`;
    const ifMatch = random.chance(0.6) && (await perform({ kind: 'read', method: 'GET', path, key })).response?.tag;
    const requests = Array.from({ length: random.chance(0.3) ? 2 : 1 }, (): Request => ({
      ...(kind === 'delete' ? { kind, method: 'DELETE' } : { kind, method: 'PUT', body: newValues() }),
      ...{ path, key, ...(ifMatch && { ifMatch }) },
    }));
    return Promise.all(requests.map((request) => perform(request)));
  }

  function newValues() {
    const title = random.chance(0.7) && { title: newTitle() };
    return { ...title, ...((!title || random.chance(0.5)) && { status: random.pick(STATUSES) }) };
  }

  async function act() {
    const action = random.pick(DECK);
    if (action === 'page') return perform(list(random.integer(1, 8), random.integer(1, 40)));
    if (action === 'list') return perform(list(1, WHOLE_LIST));
    const key = known.pick(random, action === 'delete' ? 0.02 : 0.2);
    if (key === undefined || action === 'create') return create();
    if (action !== 'read' && known.mayWrite(key)) return write(action, key);
    return perform({ kind: 'read', method: 'GET', path: `/v1/items/${key}`, key });
  }

  let deadline = Infinity;
  signal.addEventListener('abort', () => (deadline = history.now() + MAX_EXTRA_MS));
  while (!signal.aborted || outcomes.known < Math.max(MIN_KNOWN, outcomes.unknown)) {
    if (history.now() > deadline)
      throw new Error(`${name} knows only ${outcomes.known} outcomes, and misses ${outcomes.unknown}`);
    await act();
    await sleep(random.integer(0, 12));
  }
}
