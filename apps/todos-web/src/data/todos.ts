import { useMemo } from 'preact/hooks';
import * as api from './api.ts';
import type { Todo } from './api.ts';
import { isSame, merge } from './merge.ts';
import { changedIds, changesOf, doneChanges, dropDone, openOutbox, outbox, showSince } from './outbox.ts';
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
  return { shown, timesLoaded, todos };
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
addEventListener('online', () => {
  outbox.update({ trouble: undefined });
  void send();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) void send();
});

/**
 * A todo that has no change stays the same object, so that what is known of it need not be found again. Those of a batch change when
 * they are saved: counts beside its progress say the same. Of a todo that no list has shown, a page knows its own change.
 */
function shownOf(id: number) {
  let todo = listed.get(id);
  for (const { state, base, mine, batch } of changesOf(id)) {
    if (state === 'done') todo = mine;
    else if (state === 'waiting' && !batch) {
      if (todo && base) todo = merge(base, mine, todo);
      else if (!base || !isListed()) todo = mine;
    }
  }
  return todo;
}

const isListed = () => store.get().timesLoaded > 0;

/** Counts what has been asked for: of the lists that have come, the latest is shown. */
let lastAsked = 0;
let shownAsked = 0;

/** Tag of the list that is in the store, as the service has it. */
let listTag: string | undefined;

/** Delay between looks at what others have written. A list without a tag, of more than 50,000 todos, comes whole each time. */
export const pollMs = () => 15_000;
export const listPollMs = () => (listTag === undefined ? 300_000 : pollMs());

/**
 * Loads the whole list, unless the service still has the one that is in the store.
 * @throws Problem
 */
export async function loadTodos(): Promise<void> {
  lastAsked += 1;
  const asked = lastAsked;
  const done = noteDone();
  const known = listTag;
  await api.soonest(
    (source) => api.listTodos(source, known),
    async (list) => {
      // 10,000 todos are parsed in one task and drawn in the next, so that a phone handles input between the two.
      if (list) await new Promise((resolve) => setTimeout(resolve));
      const written = await done;
      if (asked < shownAsked) return;
      // Another list or a changed todo has arrived first, so the unchanged list is no longer in the store.
      if (!list && listTag !== known) return loadTodos();
      if (!list?.isKept) dropDone(written);
      if (list && !(list.isKept && isListed())) showList(list, asked);
    },
  );
}

/**
 * Notes what is done when something is asked for: the response has it. What earlier pages have done was done before; it would be
 * taken for newer if it were read later.
 */
const noteDone = (id?: number) => outboxOpened.then(() => doneChanges(id));

function showList({ todos, tag, isKept }: { todos: Todo[]; tag: string | undefined; isKept: boolean }, asked: number) {
  if (!isKept) shownAsked = asked;
  listTag = tag;
  listed = new Map(todos.map((todo) => [todo.id, todo]));
  const shown = new Map(listed);
  for (const id of changedIds()) {
    const todo = shownOf(id);
    if (todo) shown.set(id, todo);
  }
  store.update({ shown, timesLoaded: store.get().timesLoaded + 1 });
}

/**
 * Loads a todo into the store.
 * @param take called with it, and again when a kept one was taken first
 * @throws Problem
 */
export async function loadTodo(id: string, take?: (todo: Todo) => void) {
  lastAsked += 1;
  const asked = lastAsked;
  const done = noteDone(parseInt(id, 10));
  await api.soonest(
    (source) => api.readTodo(id, source),
    async ({ todo, isKept }) => {
      const written = await done;
      const known = listed.get(todo.id);
      // A list that was asked for later has come first, or the page shows a newer todo than the kept one.
      if (!known || !(isKept || asked < shownAsked)) {
        if (!isKept) showSince(written, todo);
        if (!known || !isSame(known, todo)) {
          // Should the service have the former list again later, the store has not.
          listTag = undefined;
          listed.set(todo.id, todo);
          store.update({ shown: new Map(store.get().shown).set(todo.id, shownOf(todo.id)!) });
        }
      }
      take?.(store.get().shown.get(todo.id) ?? todo);
    },
  );
}
