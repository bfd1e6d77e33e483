import type { TodosPaths } from '@rest-services/client';
import { createStore } from './store.ts';
import { SLOW_MS, TooLate, within } from './within.ts';

export type Todo = TodosPaths['/api/todos/{id}']['get']['responses'][200]['content']['application/json'];

const TIMEOUT_MS = 15_000;

/** Ten thousand todos are 800 kB, and a phone may have a bad day. */
const BODY_TIMEOUT_MS = 60_000;

/** As `fetchWithRetries` of the client does, which would take 0.5 kB: here, the outbox retries what is lost. */
const MAX_RETRIES = 3;
const MAX_RETRY_AFTER_S = 30;

/** `failed` may work later; with each other kind, a person has to decide. */
export type ProblemKind = 'missing' | 'changed' | 'refused' | 'unsure' | 'failed';

/** Why the service did not do what it was asked, in words for the person who asked. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** What another client has made of the todo. */
  readonly present: Todo | undefined;

  constructor(kind: ProblemKind, message: string, present?: Todo) {
    super(message);
    this.kind = kind;
    this.present = present;
  }
}

export const connection = createStore({
  /** Whether the browser believes that it has a network, or the service has answered without: it may be on this machine. */
  isOnline: navigator.onLine,
  /** Why the last response was one that this browser has kept from an earlier visit, rather than the service's. */
  whyKept: undefined as string | undefined,
});
for (const event of ['online', 'offline'])
  addEventListener(event, () => connection.update({ isOnline: navigator.onLine }));

/** What was thrown, as a Problem. */
export const asProblem = (reason: unknown) =>
  reason instanceof Problem ? reason : new Problem('failed', 'The server has a problem.');

/** A time by the clock of the browser, and by that of the service, where its last response is known. */
export type Moment = [here: number, there: number];

/** How far the clock of the service is ahead of `performance.now()`, which cannot be set. */
let serviceAhead = NaN;

export const now = (): Moment => [Date.now(), performance.now() + serviceAhead];

/** Settles with the first response of the service, which tells its time. */
export const heard = Promise.withResolvers<undefined>();

/** Where an answer comes from: this browser alone, the service alone, or the service and, without a network, this browser. */
type Source = 'kept' | 'fresh' | 'any';

// Each of these throws a Problem.

/** Takes what the service sends; before that, when it is slow, what this browser has kept. */
export async function soonest<Answer>(
  ask: (source: Source) => Promise<Answer>,
  take: (answer: Answer) => Promise<void>,
) {
  const coming = ask('any');
  let hasCome = false;
  void within(SLOW_MS, coming).catch(async (reason: unknown) => {
    const kept = reason instanceof TooLate && (await ask('kept').catch(() => undefined));
    if (!kept || hasCome) return;
    connection.update({ whyKept: SLOW });
    await take(kept);
  });
  const answer = await coming;
  hasCome = true;
  await take(answer);
}

/** @returns nothing while the list has the tag that it had before */
export async function listTodos(source: Source, tag?: string) {
  const { data, response, isKept } = await request('/api/todos', {
    ...from(source),
    headers: tag && source === 'any' ? { 'if-none-match': tag } : {},
  });
  if (response.status === 304) return undefined;
  if (!Array.isArray(data)) throw asProblem(data);
  return { todos: data as Todo[], tag: response.headers.get('etag') ?? undefined, isKept };
}

/** @returns with the tag of the todo, as a strong one: a proxy that compresses makes it weak, and If-Match takes only strong ones */
export async function readTodo(id: string, source: Source) {
  const { data, response, isKept } = await request(`/api/todos/${parseInt(id, 10)}`, from(source));
  if (source === 'fresh' && isKept) throw lost();
  const todo = data as Todo;
  if (typeof todo.description !== 'string') throw asProblem(todo);
  return { todo, tag: response.headers.get('etag')?.replace(/^W\//, ''), isKept };
}

/** A key for all requests that create one todo. `randomUUID` needs https. */
export const createRequestKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** @returns the id */
export const createTodo = (description: string, requestKey: string) =>
  write('POST', { description }, { 'idempotency-key': requestKey });

/** @param tags of the todo that is replaced, and that must not be another by now */
export const updateTodo = (todo: Todo, tags: string) => write('PUT', todo, { 'if-match': tags });

async function write(method: string, body: object, headers: Record<string, string>) {
  const init = { method, body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } };
  const { id } = (await request('/api/todos', init)).data as { id: number };
  // What stands between may have answered.
  if (!Number.isInteger(id)) throw asProblem(id);
  return id;
}

/** `no-store` passes by the service worker, because a write is made from the answer. */
const from = (source: Source): RequestInit =>
  source === 'kept'
    ? { cache: 'only-if-cached', mode: 'same-origin' }
    : { cache: source === 'fresh' ? 'no-store' : 'default' };

async function request(address: string, init: RequestInit = {}) {
  let response: Response;
  let data: unknown;
  const isKeptAlone = init.cache === 'only-if-cached';
  const abort = new AbortController();
  try {
    response = await within(TIMEOUT_MS, fetchAgain(address, { ...init, signal: abort.signal }));
    data = await within(BODY_TIMEOUT_MS, response.json().catch(ignoreSyntax));
  } catch (cause) {
    abort.abort();
    throw lost(cause instanceof TooLate);
  }
  const { status, headers } = response;
  const isKept = isKeptAlone || headers.has('x-kept');
  const whyKept = isKept ? LOST : undefined;
  const isOnline = !isKept || navigator.onLine;
  const was = connection.get();
  if (!isKeptAlone && (whyKept !== was.whyKept || isOnline !== was.isOnline)) connection.update({ whyKept, isOnline });
  const date = Date.parse(headers.get('date') ?? '');
  if (!isKept && date) {
    serviceAhead = date - performance.now();
    heard.resolve(undefined);
  }
  if (status === 304 || (response.ok && data)) return { data, response, isKept };
  // What stands between may answer as well, in words of its own.
  const message = (data as { message?: unknown } | null | undefined)?.message;
  if (typeof message === 'string') {
    if (message === 'Todo not found') throw new Problem('missing', 'There is no such todo.');
    if (status === 412) throw new Problem('changed', 'Somebody else has changed the same.');
    if ([400, 413, 422].includes(status)) throw new Problem('refused', REFUSED);
    if (status === 503) throw new Problem('failed', 'The server has too much to do. Try again in a moment.');
  }
  throw asProblem(data);
}

/** Fetches, and again when the service is overloaded and says when to come back. */
async function fetchAgain(address: string, init: RequestInit) {
  for (let retries = 0; ; retries += 1) {
    const response = await fetch(address, init);
    const seconds = Number(response.headers.get('retry-after') ?? 'none');
    if (response.status !== 503 || !(seconds <= MAX_RETRY_AFTER_S) || retries === MAX_RETRIES) return response;
    // Up to a half longer. Otherwise pages that were refused together would return together.
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000 * (1 + Math.random() / 2)));
  }
}

function ignoreSyntax(reason: unknown) {
  if (!(reason instanceof SyntaxError)) throw reason;
}

/** Other reasons than a character that no database stores are met before it is sent. */
const REFUSED = 'There is a character that cannot be stored.';

const SLOW = 'The server takes too long to answer.';
const LOST = 'The server cannot be reached.';

/** Problem that explains a missing response. */
const lost = (isSlow = false) => new Problem('failed', navigator.onLine ? (isSlow ? SLOW : LOST) : 'You are offline.');
