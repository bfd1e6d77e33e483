import type { TodosPaths } from '@rest-services/client';
import { client } from './client.ts';
import { createStore } from './store.ts';

export type Todo = TodosPaths['/api/todos/{id}']['get']['responses'][200]['content']['application/json'];

/** A todo, and the tag that names this state of it. */
export interface TaggedTodo {
  todo: Todo;
  tag: string | undefined;
}

/** Where the service refuses a description, in Unicode code points. */
export const DESCRIPTION_LIMIT = 255;

const TIMEOUT_MS = 15_000;

/** Ten thousand todos are 800 kB, and a phone may have a bad day. */
const LIST_TIMEOUT_MS = 60_000;

/** Why the service did not do what it was asked, in words for the person who asked. */
export class Problem extends Error {
  readonly kind: 'missing' | 'changed' | 'refused' | 'failed';

  constructor(kind: Problem['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** A request that had no network: it may be sent again when there is one. */
export class OfflineProblem extends Problem {
  constructor(cause?: unknown) {
    super('failed', 'You are offline.', cause);
  }
}

/** Another client has changed the todo since the form was filled. */
export class Conflict extends Problem {
  readonly present: TaggedTodo;

  constructor(present: TaggedTodo) {
    super('changed', 'It has been changed meanwhile.');
    this.present = present;
  }
}

/** Whether the last response was the service's, or one that the service worker has kept from an earlier visit. */
export const connection = createStore({ isKept: false });

/** What was thrown, as a Problem. */
export const asProblem = (reason: unknown) =>
  reason instanceof Problem ? reason : new Problem('failed', 'The server has a problem.', reason);

const inTime = () => AbortSignal.timeout(TIMEOUT_MS);

// Each of these throws a Problem.

/** @returns nothing while the list has the tag that it had before */
export async function listTodos(tag?: string) {
  const headers = tag ? { 'if-none-match': tag } : {};
  const request = client.GET('/api/todos', { headers, signal: AbortSignal.timeout(LIST_TIMEOUT_MS) });
  const response = await request.then(
    ({ response }) => response,
    () => undefined,
  );
  if (response?.status === 304) return undefined;
  return { todos: await answerOf(request), tag: response?.headers.get('etag') ?? undefined };
}

export const readTodo = (id: string) =>
  answerOf(client.GET('/api/todos/{id}', { params: { path: { id: parseInt(id, 10) } }, signal: inTime() }));

export async function readTaggedTodo(id: string): Promise<TaggedTodo> {
  const request = client.GET('/api/todos/{id}', { params: { path: { id: parseInt(id, 10) } }, signal: inTime() });
  const { data: todo, response } = await received(request);
  // A proxy that compresses makes the tag a weak one, and If-Match takes only strong ones.
  return { todo, tag: response.headers.get('etag')?.replace(/^W\//, '') };
}

/** A key for all requests that create one todo. `randomUUID` needs https. */
export const createRequestKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-');

export const createTodo = (description: string, requestKey: string) =>
  answerOf(
    client.POST('/api/todos', {
      body: { description },
      headers: { 'idempotency-key': requestKey },
      signal: inTime(),
    }),
  );

/** @param tag of the todo that is replaced, where it must not be another by now */
export const updateTodo = (todo: Todo, tag?: string) =>
  answerOf(client.PUT('/api/todos', { body: todo, headers: tag ? { 'if-match': tag } : {}, signal: inTime() }));

type Request<Body> = Promise<{ data?: Body; error?: unknown; response: Response }>;

const answerOf = async <Body extends object>(request: Request<Body>) => (await received(request)).data;

async function received<Body extends object>(request: Request<Body>): Promise<{ data: Body; response: Response }> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    throw asProblem(lostAnswer(cause));
  });
  const isKept = response.headers.has('x-kept');
  if (isKept !== connection.get().isKept) connection.update({ isKept });
  if (response.ok && data) return { data, response };
  // What stands between may answer as well, in words of its own.
  const { message } = (error ?? {}) as { message?: unknown };
  if (response.status === 404 && message) throw new Problem('missing', 'There is no such todo.');
  if (response.status === 412) throw new Problem('changed', 'It has been changed meanwhile.');
  if (response.status === 400 && typeof message === 'string') throw new Problem('refused', message);
  if (response.status === 503 && typeof message === 'string') {
    throw new Problem('failed', 'The server has too much to do. Try again in a moment.');
  }
  throw asProblem(error);
}

/** Problem that explains a missing response; the cause itself where the reason is unknown. */
function lostAnswer(cause: unknown) {
  if (!navigator.onLine) return new OfflineProblem(cause);
  if (cause instanceof DOMException && cause.name === 'TimeoutError') {
    const words = 'The server takes too long to answer; it may have done what it was asked all the same.';
    return new Problem('failed', words, cause);
  }
  // `fetch` throws a TypeError when it receives no response at all.
  if (cause instanceof TypeError) return new Problem('failed', 'The server cannot be reached.', cause);
  return cause;
}
