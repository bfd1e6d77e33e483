import { asProblem, createRequestKey, OfflineProblem } from './api.ts';
import { shortened } from './format.ts';
import { notify } from '../components/notices.tsx';
import { createTodo, store } from './todos.ts';

/** Ends when all todos of earlier calls are added, which keeps their order. */
let adding: Promise<unknown> = Promise.resolve();
let timesLost = 0;

/**
 * Adds todos in their order, after those that are on their way. A notice keeps what could not be saved.
 * @returns how many have been saved
 */
export const addTodos = (descriptions: string[]) =>
  addInTurn(descriptions.map((description) => ({ description, requestKey: createRequestKey() })));

/** A todo that is not saved yet, with the key of the requests for it: one may have arrived, and just its response been lost. */
interface NewTodo {
  description: string;
  requestKey: string;
}

function addInTurn(todos: NewTodo[]): Promise<number> {
  const added = adding.then(() => addInOrder(todos));
  adding = added;
  countUnsaved(todos.length);
  return added.finally(() => countUnsaved(-todos.length));
}

const countUnsaved = (more: number) => store.update({ unsaved: store.get().unsaved + more });

async function addInOrder(todos: NewTodo[]) {
  let added = 0;
  for (const [index, todo] of todos.entries()) {
    try {
      await createTodo(todo.description, todo.requestKey);
      added += 1;
    } catch (reason) {
      const problem = asProblem(reason);
      // The service may well take the others.
      const isRefused = problem.kind === 'refused';
      reportLost(isRefused ? [todo] : todos.slice(index), problem);
      if (!isRefused) break;
    }
  }
  return added;
}

function reportLost(todos: NewTodo[], problem: Error) {
  const others = todos.length - 1;
  timesLost += 1;
  notify({
    kind: 'problem',
    about: `lost ${timesLost}`,
    subject: shortened(todos[0]!.description),
    text: `${others > 0 ? `and ${others} more ` : ''}could not be saved. ${problem.message}`,
    isOnlyCopy: true,
    retry: () => void addInTurn(todos),
    isOffline: problem instanceof OfflineProblem,
  });
}
