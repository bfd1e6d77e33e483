import { todosClient, type TodosPaths } from '@rest-services/client';

export type Todo = TodosPaths['/api/todos/{id}']['get']['responses'][200]['content']['application/json'];

/** Where the service refuses a description, in Unicode code points. */
export const DESCRIPTION_LIMIT = 255;

const TIMEOUT_MS = 15_000;

/** Ten thousand todos are 800 kB, and a phone may have a bad day. */
const LIST_TIMEOUT_MS = 60_000;

/** Why the service did not do what it was asked, in words for the person who asked. */
export class Problem extends Error {
  readonly kind: 'missing' | 'refused' | 'failed';

  constructor(kind: Problem['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** What was thrown, as a Problem. */
export const asProblem = (reason: unknown) =>
  reason instanceof Problem ? reason : new Problem('failed', 'The server has a problem.', reason);

const client = todosClient({ baseUrl: '' });
const inTime = () => AbortSignal.timeout(TIMEOUT_MS);

// Each of these throws a Problem.

export const listTodos = () => answerOf(client.GET('/api/todos', { signal: AbortSignal.timeout(LIST_TIMEOUT_MS) }));

export const readTodo = (id: string) =>
  answerOf(client.GET('/api/todos/{id}', { params: { path: { id } }, signal: inTime() }));

export const createTodo = (description: string) =>
  answerOf(client.POST('/api/todos', { body: { description }, signal: inTime() }));

export const updateTodo = (todo: Todo) => answerOf(client.PUT('/api/todos', { body: todo, signal: inTime() }));

async function answerOf<Body extends object>(
  request: Promise<{ data?: Body; error?: unknown; response: Response }>,
): Promise<Body> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    throw asProblem(lostAnswer(cause));
  });
  if (response.ok && data) return data;
  // What stands between may answer as well, in words of its own.
  const { message } = (error ?? {}) as { message?: unknown };
  if (response.status === 404 && message) throw new Problem('missing', 'There is no such todo.');
  if (response.status === 400 && typeof message === 'string') throw new Problem('refused', message);
  if (response.status === 503 && typeof message === 'string') {
    throw new Problem('failed', 'The server has too much to do. Try again in a moment.');
  }
  throw asProblem(error);
}

/** Problem that explains a missing response; the cause itself where the reason is unknown. */
function lostAnswer(cause: unknown) {
  if (!navigator.onLine) return new Problem('failed', 'You are offline.', cause);
  if (cause instanceof DOMException && cause.name === 'TimeoutError') {
    const words = 'The server takes too long to answer; it may have done what it was asked all the same.';
    return new Problem('failed', words, cause);
  }
  // `fetch` throws a TypeError when it receives no response at all.
  if (cause instanceof TypeError) return new Problem('failed', 'The server cannot be reached.', cause);
  return cause;
}
