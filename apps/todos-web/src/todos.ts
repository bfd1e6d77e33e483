import { useMemo } from 'preact/hooks';
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

/** Ends when all todos of earlier calls are added, which keeps their order. */
let adding: Promise<unknown> = Promise.resolve();
let timesLost = 0;

/**
 * Adds todos in their order, after those that are on their way. A notice keeps what could not be saved.
 * @returns how many have been saved
 */
export const addTodos = (descriptions: string[]) =>
  addInTurn(descriptions.map((description) => ({ description, requestKey: api.createRequestKey() })));

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
      const problem = api.asProblem(reason);
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

/** Reads the todo first, because the service replaces all of it and another client may have changed the rest since it was shown. */
async function change(id: number, changes: Partial<Todo>): Promise<Todo> {
  const changed = { ...(await api.readTodo(`${id}`)), ...changes };
  await api.updateTodo(changed);
  confirmWritten(changed);
  return changed;
}

/** Writes that are on their way at once when several todos are ticked. */
const WRITERS = 4;

/** Shows todos as open or done at once, and as they were, with a notice, if that can't be saved. */
export async function setCompleted(ids: number[], isCompleted: Completed): Promise<void> {
  // A toggle that is on its way writes the state that is wanted when it starts.
  const waiting = ids.filter((id) => !store.get().wanted.has(id));
  want(ids, isCompleted);
  ids.forEach((id) => closeNotice(aboutTodo(id)));

  const missed: { id: number; wanted: Completed; problem: Error }[] = [];
  const write = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        const next = id;
        await inTurn(id, () => saveWanted(next));
      } catch (problem) {
        missed.push({ id, wanted: store.get().wanted.get(id)!, problem: problem as Error });
      }
      want([id], undefined);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  const [first, second] = missed;
  if (!first) return;
  if (second) reportSeveralMissed(missed, first.wanted, first.problem);
  else reportMissed(first.id, first.wanted, first.problem);
}

async function saveWanted(id: number) {
  let saved: Todo;
  do {
    saved = await change(id, { isCompleted: store.get().wanted.get(id)! });
  } while (saved.isCompleted !== store.get().wanted.get(id));
}

function reportSeveralMissed(missed: { id: number }[], wanted: Completed, problem: Error) {
  notify({
    kind: 'problem',
    about: 'several todos',
    text: `${formatCount(missed.length)} todos are still ${wanted ? 'open' : 'done'}. ${problem.message}`,
    retry: () =>
      void setCompleted(
        missed.map(({ id }) => id),
        wanted,
      ),
    isOffline: problem instanceof OfflineProblem,
  });
}

function reportMissed(id: number, missed: Completed, problem: Error) {
  const shown = () => store.get().confirmed.get(id);
  const isMissed = () => shown()?.isCompleted !== missed;
  const tell = () =>
    notify({
      kind: 'problem',
      about: aboutTodo(id),
      subject: shortened(shown()?.description ?? `Todo ${id}`),
      text: `is still ${missed ? 'open' : 'done'}. ${problem.message}`,
      retry: () => void setCompleted([id], missed),
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

let undo: (() => void) | undefined;

/** Takes the last tick back. */
export function undoTick() {
  undo?.();
  undo = undefined;
}

/** Ticks todos, or takes their ticks away, and offers to undo that. */
export function tick(todos: Todo[], isCompleted: Completed) {
  const changed = todos.filter((todo) => todo.isCompleted !== isCompleted);
  const [first, second] = changed;
  if (!first) return;
  const ids = changed.map(({ id }) => id);
  const about = second ? 'several todos' : aboutTodo(first.id);
  void setCompleted(ids, isCompleted);
  undo = () => {
    closeNotice(about);
    void setCompleted(ids, isCompleted ? 0 : 1);
  };
  notify({
    kind: 'saved',
    about,
    ...(second ? {} : { subject: shortened(first.description) }),
    text: `${second ? `${formatCount(ids.length)} todos are` : 'is'} ${isCompleted ? 'done' : 'open again'}.`,
    retry: undoTick,
    retryLabel: 'Undo',
  });
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
  const known = store.get().confirmed.get(todo.id);
  if (known?.description === todo.description && known.isCompleted === todo.isCompleted) return;
  // Should the service have the former list again later, the store has not.
  listTag = undefined;
  store.update({ confirmed: new Map(store.get().confirmed).set(todo.id, todo) });
}

function want(ids: number[], isCompleted: Completed | undefined) {
  const wanted = new Map(store.get().wanted);
  for (const id of ids) {
    if (isCompleted === undefined) wanted.delete(id);
    else wanted.set(id, isCompleted);
  }
  store.update({ wanted });
}

/** 1234 as 1,234. The first `toLocaleString` of a page takes 44 ms, ten times as long as 10,000 todos take to be counted. */
export const formatCount = (count: number) => `${count}`.replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** For a sentence or a title: the beginning of a long description, never half a character. */
export function shortened(description: string) {
  const characters = Array.from(description);
  return characters.length > 40 ? `${characters.slice(0, 39).join('').trimEnd()}…` : description;
}
