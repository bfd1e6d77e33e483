import * as api from './api.ts';
import type { Todo } from './api.ts';
import { notify } from './notices.tsx';
import { createStore } from './store.ts';

type Completed = Todo['isCompleted'];

const store = createStore({
  /** What the service has confirmed, by id. */
  confirmed: new Map<number, Todo>(),
  /** Toggles on their way to the service; shown as if they had arrived. */
  wanted: new Map<number, Completed>(),
  /** How often the whole list has been loaded. */
  lists: 0,
});

/** Writes that the service has confirmed: a list that was asked for before one of them may not show it. */
let writes = 0;

export function useTodos() {
  const { confirmed, wanted, lists } = store.use();
  const shown = (todo: Todo): Todo => ({ ...todo, isCompleted: wanted.get(todo.id) ?? todo.isCompleted });
  return {
    lists,
    /** As they are shown: with the toggles that are still on their way. */
    todos: () => [...confirmed.values()].map(shown),
    todo(id: number) {
      const todo = confirmed.get(id);
      return todo && shown(todo);
    },
  };
}

/** @throws Problem */
export async function loadTodos(): Promise<void> {
  const writesBefore = writes;
  const todos = await api.listTodos();
  if (writes !== writesBefore) return loadTodos();
  const { lists } = store.get();
  store.update({ confirmed: new Map(todos.map((todo) => [todo.id, todo])), lists: lists + 1 });
}

/** @throws Problem */
export async function loadTodo(id: string): Promise<Todo> {
  const todo = await api.readTodo(id);
  confirm(todo);
  return todo;
}

/** @throws Problem */
export async function createTodo(description: string): Promise<Todo> {
  const { id } = await api.createTodo(description);
  const todo: Todo = { id, description, isCompleted: 0 };
  writes += 1;
  confirm(todo);
  return todo;
}

/** @throws Problem */
export async function saveTodo(todo: Todo): Promise<void> {
  await api.updateTodo(todo);
  writes += 1;
  confirm(todo);
}

/** Shows a todo as open or done at once, and as it was, with a notice, if that can't be saved. */
export async function setCompleted(id: number, isCompleted: Completed): Promise<void> {
  const isOnItsWay = store.get().wanted.has(id);
  want(id, isCompleted);
  if (isOnItsWay) return;

  try {
    let saved: Todo;
    do {
      // The service replaces the description too; somebody else may have changed it since it was shown here.
      const current = await api.readTodo(`${id}`);
      saved = { ...current, isCompleted: store.get().wanted.get(id)! };
      await saveTodo(saved);
    } while (saved.isCompleted !== store.get().wanted.get(id));
  } catch (problem) {
    const missed = store.get().wanted.get(id)!;
    const { description } = store.get().confirmed.get(id)!;
    notify({
      kind: 'problem',
      text: `“${shortened(description)}” is still ${missed ? 'open' : 'done'}. ${(problem as Error).message}`,
      retry: () => void setCompleted(id, missed),
    });
  } finally {
    want(id, undefined);
  }
}

function confirm(todo: Todo) {
  store.update({ confirmed: new Map(store.get().confirmed).set(todo.id, todo) });
}

function want(id: number, isCompleted: Completed | undefined) {
  const wanted = new Map(store.get().wanted);
  if (isCompleted === undefined) wanted.delete(id);
  else wanted.set(id, isCompleted);
  store.update({ wanted });
}

/** For a sentence or a title: the beginning of a long description, never half a character. */
export function shortened(description: string) {
  const characters = Array.from(description);
  return characters.length > 40 ? `${characters.slice(0, 39).join('').trimEnd()}…` : description;
}
