import { useMemo } from 'preact/hooks';
import * as api from './api.ts';
import { Conflict, Problem, type TaggedTodo, type Todo } from './api.ts';
import { isConflict, isSame, merge } from './merge.ts';
import { createStore } from './store.ts';

type Completed = Todo['isCompleted'];

export const store = createStore({
  /** What the service has confirmed, by id. */
  confirmed: new Map<number, Todo>(),
  /** Toggles on their way to the service; shown as if they had arrived. */
  wanted: new Map<number, Completed>(),
  /** How often the whole list has been loaded. */
  timesLoaded: 0,
  /** How many new todos are on their way. */
  unsaved: 0,
});

/** What has been written, in its order: an answer that was asked for earlier may not show it. */
const written: Todo[] = [];

/** The last write to each todo that is on its way: the next one waits for it. */
const writing = new Map<number, Promise<unknown>>();

export function useTodos() {
  const { confirmed, wanted, timesLoaded, unsaved } = store.use();
  // One that is not on its way stays the same object, so that what is known of it need not be found again.
  const shown = (todo: Todo): Todo => (wanted.has(todo.id) ? { ...todo, isCompleted: wanted.get(todo.id)! } : todo);
  const todos = useMemo(() => Array.from(confirmed.values(), shown), [confirmed, wanted]);
  return {
    timesLoaded,
    unsaved,
    /** As they are shown: with the toggles that are still on their way. */
    todos,
    todo(id: number) {
      const todo = confirmed.get(id);
      return todo && shown(todo);
    },
  };
}

/** Counts the lists that have been asked for; the latest of those that have come is shown. */
let lastAsked = 0;
let lastShown = 0;

/** Tag of the list that is in the store, as the service has it. */
let listTag: string | undefined;

/**
 * Loads the whole list, unless the service still has the one that is in the store.
 * @throws Problem
 */
export async function loadTodos(): Promise<void> {
  lastAsked += 1;
  const asked = lastAsked;
  const earlier = written.length;
  const known = listTag;
  const list = await api.listTodos(known);
  // 10,000 todos are parsed in one task and drawn in the next, so that a phone handles input between the two.
  if (list) await new Promise((resolve) => setTimeout(resolve));
  if (asked < lastShown) return;
  if (!list) {
    // Another list or a changed todo has arrived first, so the unchanged list is no longer in the store.
    if (listTag !== known) await loadTodos();
    return;
  }
  const todos = [...list.todos, ...written.slice(earlier)];
  lastShown = asked;
  listTag = list.tag;
  store.update({ confirmed: new Map(todos.map((todo) => [todo.id, todo])), timesLoaded: store.get().timesLoaded + 1 });
}

/** @throws Problem */
export async function loadTodo(id: string): Promise<void> {
  const earlier = written.length;
  const todo = await api.readTodo(id);
  confirm(written.slice(earlier).findLast((later) => later.id === todo.id) ?? todo);
}

/**
 * Loads a todo for a form, as it is shown: with a toggle that is on its way.
 * @throws Problem
 */
export async function loadTaggedTodo(id: string): Promise<TaggedTodo> {
  const earlier = written.length;
  const { todo, tag } = await api.readTaggedTodo(id);
  const latest = written.slice(earlier).findLast((later) => later.id === todo.id) ?? todo;
  confirm(latest);
  return { todo: { ...latest, isCompleted: store.get().wanted.get(todo.id) ?? latest.isCompleted }, tag };
}

/**
 * @param requestKey the same for a request that may have arrived before
 * @returns the id
 * @throws Problem
 */
export async function createTodo(description: string, requestKey: string): Promise<number> {
  const { id } = await api.createTodo(description, requestKey);
  confirmWritten({ id, description, isCompleted: 0 });
  return id;
}

/**
 * Saves a form, merged with what another client has changed since it was opened.
 * @param shown what the form was filled with
 * @throws Conflict if that client has changed the same
 * @throws Problem
 */
export async function saveTodo(typed: Todo, shown: TaggedTodo): Promise<void> {
  await inTurn(typed.id, async () => {
    let changed = typed;
    for (let { todo, tag } = shown; ;) {
      try {
        await api.updateTodo(changed, tag);
        break;
      } catch (problem) {
        if (!(problem instanceof Problem && problem.kind === 'changed')) throw problem;
        const present = await api.readTaggedTodo(`${typed.id}`);
        if (isConflict(todo, changed, present.todo)) throw new Conflict(present);
        changed = merge(todo, changed, present.todo);
        // An earlier request may have arrived, and just its response been lost.
        if (isSame(changed, present.todo)) break;
        // It would be refused again and again.
        if (present.tag === tag) throw problem;
        ({ todo, tag } = present);
      }
    }
    confirmWritten(changed);
  });
}

/**
 * Changes a part of a todo. Reads it first, because the service replaces all of it and another client may have changed the rest
 * since it was shown.
 * @throws Problem
 */
export async function changeTodo(id: number, changes: Partial<Todo>): Promise<Todo> {
  const changed = { ...(await api.readTodo(`${id}`)), ...changes };
  await api.updateTodo(changed);
  confirmWritten(changed);
  return changed;
}

/** Runs a write to a todo after the earlier ones to the same todo. */
export function inTurn<Result>(id: number, write: () => Promise<Result>): Promise<Result> {
  const turn = Promise.resolve(writing.get(id)).then(write, write);
  writing.set(id, turn);
  return turn;
}

function confirmWritten(todo: Todo) {
  written.push(todo);
  confirm(todo);
}

function confirm(todo: Todo) {
  const known = store.get().confirmed.get(todo.id);
  if (known?.description === todo.description && known.isCompleted === todo.isCompleted) return;
  // Should the service have the former list again later, the store has not.
  listTag = undefined;
  store.update({ confirmed: new Map(store.get().confirmed).set(todo.id, todo) });
}
