import { todosClient, type TodosPaths } from '@rest-services/client';

export type Todo = TodosPaths['/api/todos/{id}']['get']['responses'][200]['content']['application/json'];

/** Where the service refuses a description, in Unicode code points. */
export const DESCRIPTION_LIMIT = 255;

const TIMEOUT_MS = 15_000;

/** Why the service did not do what it was asked, in words for the person who asked. */
export class Problem extends Error {
  readonly kind: 'missing' | 'refused' | 'failed';

  constructor(kind: Problem['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

const client = todosClient({ baseUrl: '' });
const signal = () => AbortSignal.timeout(TIMEOUT_MS);

// Each of these throws a Problem.

export const listTodos = () => answerOf(client.GET('/api/todos', { signal: signal() }));

export const readTodo = (id: string) =>
  answerOf(client.GET('/api/todos/{id}', { params: { path: { id } }, signal: signal() }));

export const createTodo = (description: string) =>
  answerOf(client.POST('/api/todos', { body: { description }, signal: signal() }));

export const updateTodo = (todo: Todo) => answerOf(client.PUT('/api/todos', { body: todo, signal: signal() }));

async function answerOf<Body>(request: Promise<{ data?: Body; error?: unknown; response: Response }>): Promise<Body> {
  const { data, error, response } = await request.catch((cause: unknown) => {
    throw new Problem('failed', reasonOf(cause), cause);
  });
  if (response.ok && data !== undefined) return data;
  if (response.status === 404) throw new Problem('missing', 'There is no such todo.');
  if (response.status === 400) throw new Problem('refused', (error as { message: string }).message);
  throw new Problem('failed', 'The server has a problem.');
}

function reasonOf(cause: unknown) {
  if (!navigator.onLine) return 'You are offline.';
  if (cause instanceof DOMException && cause.name === 'TimeoutError') return 'The server takes too long to answer.';
  // What fetch throws when it gets no answer at all.
  if (cause instanceof TypeError) return 'The server can not be reached.';
  return 'The server has a problem.';
}
