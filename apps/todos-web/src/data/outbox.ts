import { createRequestKey, type Moment, type ProblemKind, type Todo } from './api.ts';
import { learnId, negativeId } from './ids.ts';
import { readChanges, writeChanges } from './kept-changes.ts';
import { createStore } from './store.ts';
import { listen, tab, tell } from './tabs.ts';

/** One change of one todo, from the moment when a person makes it until a list of the service shows it. */
export interface Change {
  /** Names the change, and sorts by when it was made. */
  key: string;
  /** A stuck change waits for a person: the service has refused it, or another client has changed the same. */
  state: 'waiting' | 'stuck' | 'done';
  /** The todo that it was made from. A new one has none. */
  base?: Todo;
  /** The todo as it is to be; when done, as the service has it. Until then a new one has a negative id. */
  mine: Todo;
  /** Idempotency-Key of a new todo, and when it was sent first. */
  requestKey?: string;
  sentAt?: Moment;
  /** Changes that were made together, and how many they were. */
  batch?: { name: string; of: number };
  problem?: { kind: ProblemKind; message: string };
  /** What another client has made of the todo. */
  present?: Todo;
}

/** How a change has ended; `removed` when a person took it back before it was sent, `gone` when its todo was deleted. */
export type Outcome = 'done' | 'stuck' | 'removed' | 'gone';

/** What pages show of the outbox. */
export const outbox = createStore({
  waiting: [] as Change[],
  stuck: [] as Change[],
  /** Why what waits could not be sent. */
  trouble: undefined as string | undefined,
  /** Whether changes survive this page. */
  isKept: true,
});

/** Delay after which the changes of a batch are shown, so that many of them redraw a page a few times a second. */
const REDRAW_MS = 150;

/** Number of changes in one transaction, between which the page handles input. */
const CHUNK = 1_000;

const changes = new Map<string, Change>();
const byTodo = new Map<number, Change[]>();

const single = new Map<string, Change>();
const batched = new Map<string, Change>();
const queueOf = ({ batch }: Change) => (batch ? batched : single);

/** What is to be sent, in its order; changes that were made one by one do not wait for those of a batch. */
export function* queued() {
  yield* single.values();
  yield* batched.values();
}

/** Changes that may not be sent yet, since they would not survive a crash. */
export const unkept = new Set<string>();

/** Changes that wait no more. */
const over = new Set<string>();

/** Changes that the storage has not taken. */
const unwritten = new Set<string>();

const watchers = new Map<string, PromiseWithResolvers<Outcome>>();
let latest = 0;
let onTouched: (ids: Set<number>) => void;
let onEntered: () => void;

/** Changes of a todo in their order. */
export const changesOf = (id: number) => byTodo.get(id) ?? [];

export const isWaiting = (id: number) => changesOf(id).some(({ state }) => state === 'waiting');

export const changedIds = () => byTodo.keys();

export const changeOf = (key: string) => changes.get(key);

/**
 * Reads what earlier pages have left, and begins to send.
 * @param touched called with the ids of todos whose changes are others
 * @param entered called when there is something to send
 */
export async function openOutbox(touched: typeof onTouched, entered: typeof onEntered) {
  onTouched = touched;
  onEntered = entered;
  listen(({ put, removed }) => apply(put, removed));
  addEventListener('beforeunload', (event) => {
    if (!outbox.get().isKept && single.size + batched.size > 0) event.preventDefault();
  });
  await reread(true);
  entered();
}

/** Takes over what other tabs have kept, also where a tab has died before it told. */
export async function reread(isFirst = false) {
  const kept = await readChanges().catch(() => undefined);
  if (!kept) return;
  // What is done may be in the list of this page by now.
  const isNew = ({ key, state }: Change) => state !== 'done' || (changes.get(key)?.state ?? state) !== state;
  apply(isFirst ? kept : kept.filter(isNew), []);
}

/**
 * Takes changes in: they show at once, and are sent when they would survive a crash.
 * @param replaced keys of changes that are dropped for them
 */
export function enter(made: Pick<Change, 'base' | 'mine' | 'batch'>[], replaced: string[] = []) {
  const entered = made.map((change): Change => {
    latest = Math.max(latest + 1, Date.now());
    const key = `${latest}-${tab}`;
    unkept.add(key);
    if (change.base) return { ...change, key, state: 'waiting' };
    const mine = { ...change.mine, id: change.mine.id || negativeId(key) };
    return { ...change, mine, key, state: 'waiting', requestKey: createRequestKey() };
  });
  apply(entered, replaced);
  return { kept: keepInChunks(entered, replaced), keys: entered.map(({ key }) => key) };
}

/** Tells how a change ends. */
export async function outcomeOf(key: string): Promise<Outcome> {
  const { state } = changes.get(key) ?? { state: 'removed' };
  if (state !== 'waiting') return state;
  const watcher = watchers.get(key) ?? Promise.withResolvers<Outcome>();
  watchers.set(key, watcher);
  return watcher.promise;
}

async function keepInChunks(entered: Change[], replaced: string[]) {
  for (let at = 0; at < entered.length; at += CHUNK) {
    // A person may have stopped it.
    const chunk = entered.slice(at, at + CHUNK).filter(({ key }) => changes.has(key));
    await keep(chunk, at === 0 ? replaced : []);
    chunk.forEach(({ key }) => unkept.delete(key));
    onEntered();
  }
}

/** Replaces changes by what has become of them, and removes others. */
export async function update(put: Change[], removed: string[] = [], outcome?: Outcome) {
  apply(put, removed, outcome);
  await keep(put, removed);
  // Later changes of the same todo have waited for it.
  if (removed.length > 0) onEntered();
}

async function keep(put: Change[], removed: string[]) {
  const written = [...[...unwritten].flatMap((key) => changes.get(key) ?? []), ...put];
  unwritten.clear();
  await writeChanges(written, removed).catch(() => written.forEach(({ key }) => unwritten.add(key)));
  const isKept = unwritten.size === 0;
  if (isKept !== outbox.get().isKept) outbox.update({ isKept });
  tell({ put, removed });
}

/** What is done: of a todo, or of all. A response that is asked for now has it. */
export const doneChanges = (id?: number) =>
  [...changes.values()].filter(({ state, mine }) => state === 'done' && mine.id === (id ?? mine.id));

/** Drops what is done and has come in a list of the service. */
export function dropDone(done: Change[]) {
  const keys = done.map(({ key }) => key);
  apply([], keys);
  if (keys.length > 0) void writeChanges([], keys).catch(() => undefined);
}

/** Shows a todo as it has become since it was changed. The storage keeps the change, since a list that is kept may be older. */
export function showSince(done: Change[], todo: Todo) {
  const put = done.map((change) => ({ ...change, mine: todo }));
  apply(put, []);
}

function apply(put: Change[], removed: string[], outcome: Outcome = 'removed') {
  for (const key of removed) {
    const change = changes.get(key);
    if (!change) continue;
    unindex(change);
    queueOf(change).delete(key);
    undrawn.add(change.mine.id);
    changes.delete(key);
    settle(change, outcome);
  }
  for (const change of put) {
    const before = changes.get(change.key);
    // Another tab may tell of it later than it has been sent.
    if (over.has(change.key) && change.state === 'waiting') continue;
    if (before) {
      unindex(before);
      undrawn.add(before.mine.id);
      if (before.mine.id < 0 && change.mine.id > 0) learnId(before.mine.id, change.mine.id);
    }
    index(change);
    undrawn.add(change.mine.id);
    if (change.state !== 'waiting') settle(change, change.state);
  }
  if (undrawn.size === 0) return;
  if (put.length > 0 && put.every(({ batch }) => batch)) timer ??= setTimeout(draw, REDRAW_MS);
  else draw();
}

function settle({ key }: Change, outcome: Outcome) {
  if (outcome !== 'stuck') over.add(key);
  watchers.get(key)?.resolve(outcome);
  watchers.delete(key);
}

function index(change: Change) {
  const { key, state, mine } = change;
  changes.set(key, change);
  latest = Math.max(latest, parseInt(key, 10));
  const ofTodo = [...changesOf(mine.id), change].sort((a, b) => (a.key < b.key ? -1 : 1));
  byTodo.set(mine.id, ofTodo);
  // One that waits already keeps its place.
  if (state === 'waiting') queueOf(change).set(key, change);
  else queueOf(change).delete(key);
}

function unindex({ key, mine }: Change) {
  const others = changesOf(mine.id).filter((change) => change.key !== key);
  byTodo.set(mine.id, others);
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Todos whose changes are not shown yet. */
const undrawn = new Set<number>();

/** Shows at once what has changed, before a notice speaks of it. */
export function draw() {
  clearTimeout(timer);
  timer = undefined;
  onTouched(undrawn);
  undrawn.clear();
  outbox.update({ waiting: [...queued()], stuck: [...changes.values()].filter(({ state }) => state === 'stuck') });
}
