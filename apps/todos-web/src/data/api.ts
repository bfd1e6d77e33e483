import type { TodosPaths } from '@rest-services/client';
import { client } from './client.ts';
import { createStore } from './store.ts';

export type Todo = TodosPaths['/api/todos/{id}']['get']['responses'][200]['content']['application/json'];

/** Where the service refuses a description, in Unicode code points. */
export const DESCRIPTION_LIMIT = 255;

const TIMEOUT_MS = 15_000;

/** Ten thousand todos are 800 kB, and a phone may have a bad day. */
const LIST_TIMEOUT_MS = 60_000;

/** `failed` may work later; with each other kind, a person has to decide. */
export type ProblemKind = 'missing' | 'changed' | 'refused' | 'unsure' | 'failed';

/** Why the service did not do what it was asked, in words for the person who asked. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  /** What another client has made of the todo. */
  readonly present: Todo | undefined;

  constructor(kind: ProblemKind, message: string, { present, cause }: { present?: Todo; cause?: unknown } = {}) {
    super(message, { cause });
    this.kind = kind;
    this.present = present;
  }
}

/** Whether the last response was the service's, or one that the service worker has kept from an earlier visit. */
export const connection = createStore({ isKept: false });

const OFFLINE = 'You are offline.';

/** What was thrown, as a Problem. */
export const asProblem = (reason: unknown) =>
  reason instanceof Problem ? reason : new Problem('failed', 'The server has a problem.', { cause: reason });

const inTime = () => AbortSignal.timeout(TIMEOUT_MS);

const isKeptOf = (response: Response) => response.headers.has('x-kept');

// Each of these throws a Problem.

/** @returns nothing while the list has the tag that it had before */
export async function listTodos(tag?: string) {
  const headers = tag ? { 'if-none-match': tag } : {};
  const request = client.GET('/api/todos', { headers, signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
  const { data: todos, response } = await received(request, 304);
  if (response.status === 304) return undefined;
  if (!Array.isArray(todos)) throw asProblem(todos);
  return { todos, tag: response.headers.get('etag') ?? undefined, isKept: isKeptOf(response) };
}

/**
 * @param isFresh whether what the service worker has kept is of no use
 * @returns with the tag of the todo, as a strong one: a proxy that compresses makes it weak, and If-Match takes only strong ones
 */
export async function readTodo(id: string, isFresh = false) {
  const request = client.GET('/api/todos/{id}', { params: { path: { id: parseInt(id, 10) } }, signal: inTime() });
  const { data: todo, response } = await received(request);
  const isKept = isKeptOf(response);
  if (isFresh && isKept) throw unreachable();
  if (typeof todo?.description !== 'string') throw asProblem(todo);
  return { todo, tag: response.headers.get('etag')?.replace(/^W\//, ''), isKept };
}

/** A key for all requests that create one todo. `randomUUID` needs https. */
export const createRequestKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

export async function createTodo(description: string, requestKey: string) {
  const headers = { 'idempotency-key': requestKey };
  const { data } = await received(client.POST('/api/todos', { body: { description }, headers, signal: inTime() }));
  // What stands between may have answered.
  if (!Number.isInteger(data!.id)) throw asProblem(data);
  return data!;
}

/** @param tags of the todo that is replaced, and that must not be another by now */
export async function updateTodo(todo: Todo, tags: string) {
  const { data } = await received(
    client.PUT('/api/todos', { body: todo, headers: { 'if-match': tags }, signal: inTime() }),
  );
  if (data!.id !== todo.id) throw asProblem(data);
}

async function received<Body extends object>(
  request: Promise<{ data?: Body; error?: unknown; response: Response }>,
  other?: number,
): Promise<{ data?: Body; response: Response }> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    throw asProblem(lostAnswer(cause));
  });
  const isKept = isKeptOf(response);
  if (isKept !== connection.get().isKept) connection.update({ isKept });
  if (response.status === other) return { response };
  if (response.ok && data) return { data, response };
  // What stands between may answer as well, in words of its own.
  const { message } = (error ?? {}) as { message?: unknown };
  if (typeof message === 'string') {
    if (response.status === 404) throw new Problem('missing', 'There is no such todo.');
    if (response.status === 412) throw new Problem('changed', 'It has been changed meanwhile.');
    if ([400, 413, 422].includes(response.status)) throw new Problem('refused', message);
    if (response.status === 503) {
      throw new Problem('failed', 'The server has too much to do. Try again in a moment.');
    }
  }
  throw asProblem(error);
}

const unreachable = (cause?: unknown) =>
  new Problem('failed', navigator.onLine ? 'The server cannot be reached.' : OFFLINE, { cause });

/** Problem that explains a missing response; the cause itself where the reason is unknown. */
function lostAnswer(cause: unknown) {
  if (!navigator.onLine) return unreachable(cause);
  if (cause instanceof DOMException && cause.name === 'TimeoutError') {
    const words = 'The server takes too long to answer; it may have done what it was asked all the same.';
    return new Problem('failed', words, { cause });
  }
  // `fetch` throws a TypeError when it receives no response at all.
  return cause instanceof TypeError ? unreachable(cause) : cause;
}
