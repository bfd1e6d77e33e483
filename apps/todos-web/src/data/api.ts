import type { TodosPaths } from '@rest-services/client';
import { createStore } from './store.ts';

type JsonOf<Operation> = Operation extends { responses: { 200: { content: { 'application/json': infer Json } } } }
  ? Json
  : never;
type Paths = TodosPaths['/api/todos'];

export type Todo = JsonOf<TodosPaths['/api/todos/{id}']['get']>;

const TIMEOUT_MS = 15_000;

/** Ten thousand todos are 800 kB, and a phone may have a bad day. */
const LIST_TIMEOUT_MS = 60_000;

/** As `fetchWithRetries` of the client does, which would take 0.5 of the 22 kB: here, the outbox retries what is lost. */
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
  /** Whether the browser believes that it has a network. */
  isOnline: navigator.onLine,
  /** Whether the last response was one that the service worker has kept from an earlier visit, rather than the service's. */
  isKept: false,
});
for (const event of ['online', 'offline'])
  addEventListener(event, () => connection.update({ isOnline: navigator.onLine }));

/** What was thrown, as a Problem. */
export const asProblem = (reason: unknown) =>
  reason instanceof Problem ? reason : new Problem('failed', 'The server has a problem.');

// Each of these throws a Problem.

/** @returns nothing while the list has the tag that it had before */
export async function listTodos(tag?: string) {
  const { data, response, isKept } = await request(
    '/api/todos',
    { headers: tag ? { 'if-none-match': tag } : {} },
    LIST_TIMEOUT_MS,
  );
  if (response.status === 304) return undefined;
  if (!Array.isArray(data)) throw asProblem(data);
  return { todos: data as JsonOf<Paths['get']>, tag: response.headers.get('etag') ?? undefined, isKept };
}

/**
 * @param isFresh whether the service worker must not answer, because a write is made from it
 * @returns with the tag of the todo, as a strong one: a proxy that compresses makes it weak, and If-Match takes only strong ones
 */
export async function readTodo(id: string, isFresh = false) {
  const address = `/api/todos/${parseInt(id, 10)}`;
  const { data, response, isKept } = await request(address, { cache: isFresh ? 'no-store' : 'default' });
  if (isFresh && isKept) throw lost();
  const todo = data as Todo;
  if (typeof todo.description !== 'string') throw asProblem(todo);
  return { todo, tag: response.headers.get('etag')?.replace(/^W\//, ''), isKept };
}

/** A key for all requests that create one todo. `randomUUID` needs https. */
export const createRequestKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** @returns the id */
export async function createTodo(description: string, requestKey: string) {
  const { id } = await write('POST', { description }, { 'idempotency-key': requestKey });
  // What stands between may have answered.
  if (!Number.isInteger(id)) throw asProblem(id);
  return id;
}

/** @param tags of the todo that is replaced, and that must not be another by now */
export async function updateTodo(todo: Todo, tags: string) {
  const { id } = await write('PUT', todo, { 'if-match': tags });
  if (id !== todo.id) throw asProblem(id);
}

async function write(method: string, body: object, headers: Record<string, string>) {
  const init = { method, body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } };
  return (await request('/api/todos', init)).data as JsonOf<Paths['post']>;
}

async function request(address: string, init: RequestInit = {}, timeoutMs = TIMEOUT_MS) {
  let response: Response;
  let text: string;
  try {
    response = await fetchAgain(address, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    text = await response.text();
  } catch (cause) {
    throw lost(cause);
  }
  const { status, headers } = response;
  const isKept = headers.has('x-kept');
  if (isKept !== connection.get().isKept) connection.update({ isKept });
  const data = parsed(text) as { message?: unknown } | undefined;
  if (status === 304 || (response.ok && data)) return { data: data as unknown, response, isKept };
  // What stands between may answer as well, in words of its own.
  const { message } = data ?? {};
  if (typeof message === 'string') {
    if (status === 404) throw new Problem('missing', 'There is no such todo.');
    if (status === 412) throw new Problem('changed', 'It has been changed meanwhile.');
    if ([400, 413, 422].includes(status)) throw new Problem('refused', message);
    if (status === 503) throw new Problem('failed', 'The server has too much to do. Try again in a moment.');
  }
  throw asProblem(text);
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Problem that explains a missing response. */
function lost(cause?: unknown) {
  const isSlow = cause instanceof DOMException && cause.name === 'TimeoutError';
  const why = isSlow ? 'The server takes too long to answer.' : 'The server cannot be reached.';
  return new Problem('failed', navigator.onLine ? why : 'You are offline.');
}
