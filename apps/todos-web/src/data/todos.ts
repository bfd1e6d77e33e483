import { useMemo } from 'preact/hooks';
import * as api from './api.ts';
import type { Todo } from './api.ts';
import { isSame, merge } from './merge.ts';
import { changedIds, changesOf, dropDone, openOutbox } from './outbox.ts';
import { send } from './sender.ts';
import { createStore } from './store.ts';

export const store = createStore({
  /** Todos as they are shown, by id: as the service has them, with the changes of this browser. */
  shown: new Map<number, Todo>(),
  /** How often the whole list has been loaded. */
  timesLoaded: 0,
});

/** What the service has sent last. */
let listed = new Map<number, Todo>();

export function useTodos() {
  const { shown, timesLoaded } = store.use();
  const todos = useMemo(() => [...shown.values()], [shown]);
  return { timesLoaded, todos };
}

/** Settles when what earlier pages have left is known. */
export const outboxOpened = openOutbox(
  (ids) => {
    let shown: Map<number, Todo> | undefined;
    for (const id of ids) {
      const now = shownOf(id);
      const before = store.get().shown.get(id);
      if (now === before || (now && before && isSame(now, before))) continue;
      shown ??= new Map(store.get().shown);
      if (now) shown.set(id, now);
      else shown.delete(id);
    }
    if (shown) store.update({ shown });
  },
  () => void send(),
);
addEventListener('online', () => void send());
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void send();
});

/** A todo that has no change stays the same object, so that what is known of it need not be found again. */
function shownOf(id: number) {
  let todo = listed.get(id);
  for (const { state, base, mine } of changesOf(id)) {
    if (state === 'done') todo = mine;
    else if (state === 'waiting') todo = base ? todo && merge(base, mine, todo) : mine;
  }
  return todo;
}

/** Counts the lists that have been asked for; the latest of those that have come is shown. */
let lastAsked = 0;
let lastShown = 0;
let shownAskedAt = 0;

/** Tag of the list that is in the store, as the service has it. */
let listTag: string | undefined;

/** Whether the service names the state of the list, so that it need not send an unchanged one again. */
export const isListTagged = () => listTag !== undefined;

/**
 * Loads the whole list, unless the service still has the one that is in the store.
 * @throws Problem
 */
export async function loadTodos(): Promise<void> {
  lastAsked += 1;
  const asked = lastAsked;
  // Browsers ask for the first one before this script runs.
  const askedAt = asked === 1 ? performance.timeOrigin : Date.now();
  const known = listTag;
  const list = await api.listTodos(known);
  // 10,000 todos are parsed in one task and drawn in the next, so that a phone handles input between the two.
  if (list) await new Promise((resolve) => setTimeout(resolve));
  // What earlier pages have done may be in this list, and would be taken for newer if it were read later.
  await outboxOpened;
  if (asked < lastShown) return;
  if (!list) {
    // Another list or a changed todo has arrived first, so the unchanged list is no longer in the store.
    if (listTag !== known) await loadTodos();
    else dropDone(askedAt, false);
    return;
  }
  lastShown = asked;
  listTag = list.tag;
  listed = new Map(list.todos.map((todo) => [todo.id, todo]));
  if (!list.isKept) {
    shownAskedAt = askedAt;
    dropDone(askedAt, true);
  }
  const shown = new Map(listed);
  for (const id of changedIds()) {
    const todo = shownOf(id);
    if (todo) shown.set(id, todo);
  }
  store.update({ shown, timesLoaded: store.get().timesLoaded + 1 });
}

/** @throws Problem */
export async function loadTodo(id: string): Promise<Todo> {
  const askedAt = Date.now();
  const { todo, isKept } = await api.readTodo(id);
  await outboxOpened;
  const known = listed.get(todo.id);
  // A list that was asked for later has come first, or the kept list is older than the one on the page.
  if (known && (isKept || askedAt < shownAskedAt)) return store.get().shown.get(todo.id) ?? todo;
  if (!isKept) dropDone(askedAt, false, todo.id);
  if (!known || !isSame(known, todo)) {
    // Should the service have the former list again later, the store has not.
    listTag = undefined;
    listed.set(todo.id, todo);
    store.update({ shown: new Map(store.get().shown).set(todo.id, shownOf(todo.id)!) });
  }
  return shownOf(todo.id)!;
}
