import * as api from './api.ts';
import { Conflict, OfflineProblem, Problem, type TaggedTodo, type Todo } from './api.ts';
import { isConflict, isSame, merge } from './merge.ts';
import { closeNotice, notify } from './notices.tsx';
import { createStore } from './store.ts';

type Completed = Todo['isCompleted'];

const store = createStore({
  /** What the service has confirmed, by id. */
  confirmed: new Map<number, Todo>(),
  /** Toggles on their way to the service; shown as if they had arrived. */
  wanted: new Map<number, Completed>(),
  /** How often the whole list has been loaded. */
  timesLoaded: 0,
});

/** What has been written, in its order: an answer that was asked for earlier may not show it. */
const written: Todo[] = [];

/** The last write to each todo that is on its way: the next one waits for it. */
const writing = new Map<number, Promise<unknown>>();

export function useTodos() {
  const { confirmed, wanted, timesLoaded } = store.use();
  const shown = (todo: Todo): Todo => ({ ...todo, isCompleted: wanted.get(todo.id) ?? todo.isCompleted });
  return {
    timesLoaded,
    /** As they are shown: with the toggles that are still on their way. */
    todos: () => [...confirmed.values()].map(shown),
    todo(id: number) {
      const todo = confirmed.get(id);
      return todo && shown(todo);
    },
  };
}

/** Counts the lists that have been asked for; the latest of those that have come is shown. */
let lastAsked = 0;
let lastShown = 0;

/** @throws Problem */
export async function loadTodos(): Promise<void> {
  lastAsked += 1;
  const asked = lastAsked;
  const earlier = written.length;
  const todos = [...(await api.listTodos()), ...written.slice(earlier)];
  if (asked < lastShown) return;
  lastShown = asked;
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
 * Saves a form, with what another client has changed meanwhile.
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

/** Reads the todo first, because the service replaces all of it and another client may have changed the rest since it was shown. */
async function change(id: number, changes: Partial<Todo>): Promise<Todo> {
  const changed = { ...(await api.readTodo(`${id}`)), ...changes };
  await api.updateTodo(changed);
  confirmWritten(changed);
  return changed;
}

/** Shows a todo as open or done at once, and as it was, with a notice, if that can't be saved. */
export async function setCompleted(id: number, isCompleted: Completed): Promise<void> {
  const isOnItsWay = store.get().wanted.has(id);
  want(id, isCompleted);
  closeNotice(aboutTodo(id));
  if (isOnItsWay) return;

  try {
    await inTurn(id, () => saveWanted(id));
  } catch (problem) {
    reportMissed(id, problem as Error);
  } finally {
    want(id, undefined);
  }
}

async function saveWanted(id: number) {
  let saved: Todo;
  do {
    saved = await change(id, { isCompleted: store.get().wanted.get(id)! });
  } while (saved.isCompleted !== store.get().wanted.get(id));
}

function reportMissed(id: number, problem: Error) {
  const missed = store.get().wanted.get(id)!;
  const shown = () => store.get().confirmed.get(id);
  const isMissed = () => shown()?.isCompleted !== missed;
  const tell = () =>
    notify({
      kind: 'problem',
      about: aboutTodo(id),
      subject: shortened(shown()?.description ?? `Todo ${id}`),
      text: `is still ${missed ? 'open' : 'done'}. ${problem.message}`,
      retry: () => void setCompleted(id, missed),
      isOffline: problem instanceof OfflineProblem,
    });
  const wasTold = isMissed();
  if (wasTold) tell();
  // What was asked first may have arrived all the same, and just the answer been lost.
  void loadTodo(`${id}`).then(
    () => {
      const isToggledAgain = store.get().wanted.has(id);
      if (isToggledAgain) return;
      if (!isMissed()) closeNotice(aboutTodo(id));
      else if (!wasTold) tell();
    },
    () => undefined,
  );
}

const aboutTodo = (id: number) => `todo ${id}`;

function inTurn<Result>(id: number, write: () => Promise<Result>): Promise<Result> {
  const turn = Promise.resolve(writing.get(id)).then(write, write);
  writing.set(id, turn);
  return turn;
}

function confirmWritten(todo: Todo) {
  written.push(todo);
  confirm(todo);
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
