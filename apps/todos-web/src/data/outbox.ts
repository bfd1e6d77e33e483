import { createRequestKey, type Moment, type ProblemKind, type Todo } from './api.ts';
import { learnId, negativeId } from './ids.ts';
import { readChanges, writeChanges } from './kept-changes.ts';
import { createStore } from './store.ts';
import { isSentHere, listen, tab, tell } from './tabs.ts';

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

/** How far a batch has got. */
type Progress = NonNullable<Change['batch']> & { left: number; isCompleted: Todo['isCompleted'] };

/** What pages show of the outbox. It follows the changes with a delay, so that many of them redraw a page a few times a second. */
export const outbox = createStore({
  /** Whether it is known what earlier pages have left. */
  isOpened: false,
  waiting: 0,
  /** How many of those that wait another tab sends. */
  elsewhere: 0,
  stuck: [] as Change[],
  batches: [] as Progress[],
  /** Why what waits could not be sent. */
  trouble: undefined as string | undefined,
  /** Whether changes survive this page. */
  isKept: true,
});

const REDRAW_MS = 150;

/** Number of changes in one transaction, between which the page handles input. */
const CHUNK = 250;

const changes = new Map<string, Change>();
const byTodo = new Map<number, Change[]>();

/** What is to be sent, in its order; changes that were made one by one do not wait for those of a batch. */
export const waiting = { single: new Map<string, Change>(), batch: new Map<string, Change>() };

/** Changes that may not be sent yet, since they would not survive a crash. */
export const unkept = new Set<string>();

/** Changes that wait no more. */
const over = new Set<string>();

/** Done changes that the page forgets, and the storage does not yet: the service worker may show an older list. */
const forgotten = new Set<string>();

/** Changes that the storage has not taken. */
const unwritten = new Set<string>();

const watchers = new Map<string, ((outcome: Outcome) => void)[]>();
let doneEarlier: string[] = [];
let latest = 0;
let onTouched: (ids: Set<number>) => void;
let onEntered: () => void;

/** Changes of a todo in their order. */
export const changesOf = (id: number) => byTodo.get(id) ?? [];

export const isWaiting = (id: number) => changesOf(id).some(({ state }) => state !== 'done');

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
    if (!outbox.get().isKept && waiting.single.size + waiting.batch.size > 0) event.preventDefault();
  });
  await reread(true);
  doneEarlier = doneKeys();
  outbox.update({ isOpened: true });
  entered();
}

/** Takes over what other tabs have kept, also where a tab has died before it told. */
export async function reread(isFirst = false) {
  const kept = await readChanges().catch(() => undefined);
  if (!kept) return;
  // What is done may be in the list of this page by now.
  apply(
    kept.filter(({ key, state }) => isFirst || state !== 'done' || changes.has(key)),
    [],
  );
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
export function outcomeOf(key: string) {
  return new Promise<Outcome>((resolve) => {
    const { state } = changes.get(key) ?? { state: 'removed' };
    if (state === 'waiting') watchers.set(key, [...(watchers.get(key) ?? []), resolve]);
    else resolve(state);
  });
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

/**
 * Notes what is done when a todo, or the list, is asked for: the response has it.
 * @returns its keys, once the outbox is open. What earlier pages have done was done before.
 */
export function noteDone(id?: number) {
  const noted = outbox.get().isOpened ? doneKeys() : undefined;
  return () => (noted ?? doneEarlier).filter((key) => id === undefined || changes.get(key)?.mine.id === id);
}

const doneKeys = () => [
  ...[...changes.values()].flatMap(({ key, state }) => (state === 'done' ? key : [])),
  ...forgotten,
];

/**
 * Drops what is done and has come from the service.
 * @param isListKept whether the service worker has that list, too
 */
export function dropDone(keys: string[], isListKept: boolean) {
  apply([], keys);
  keys.forEach((key) => (isListKept ? forgotten.delete(key) : forgotten.add(key)));
  if (isListKept && keys.length > 0) void writeChanges([], keys).catch(() => undefined);
}

function apply(put: Change[], removed: string[], outcome: Outcome = 'removed') {
  const touched = new Set<number>();
  for (const key of removed) {
    const change = changes.get(key);
    if (!change) continue;
    unindex(change);
    queueOf(change).delete(key);
    touched.add(change.mine.id);
    changes.delete(key);
    settle(change, outcome);
  }
  for (const change of put) {
    const before = changes.get(change.key);
    // Another tab may tell of it later than it has been sent.
    if (over.has(change.key) && change.state === 'waiting') continue;
    if (before) {
      unindex(before);
      touched.add(before.mine.id);
      if (before.mine.id < 0 && change.mine.id > 0) learnId(before.mine.id, change.mine.id);
    }
    index(change);
    touched.add(change.mine.id);
    if (change.state !== 'waiting') settle(change, change.state);
  }
  if (touched.size === 0) return;
  if (put.length > 0 && put.every(({ batch }) => batch)) touched.forEach((id) => touchedByBatches.add(id));
  else onTouched(touched);
  redraw();
}

function settle({ key }: Change, outcome: Outcome) {
  if (outcome !== 'stuck') over.add(key);
  watchers.get(key)?.forEach((tellOutcome) => tellOutcome(outcome));
  watchers.delete(key);
}

const queueOf = ({ batch }: Change) => waiting[batch ? 'batch' : 'single'];

function index(change: Change) {
  const { key, state, mine } = change;
  changes.set(key, change);
  latest = Math.max(latest, parseInt(key, 10));
  const others = changesOf(mine.id);
  byTodo.set(
    mine.id,
    [...others, change].sort((a, b) => (a.key < b.key ? -1 : 1)),
  );
  // One that waits already keeps its place.
  if (state === 'waiting') queueOf(change).set(key, change);
  else queueOf(change).delete(key);
}

function unindex({ key, mine }: Change) {
  const others = changesOf(mine.id).filter((change) => change.key !== key);
  if (others.length > 0) byTodo.set(mine.id, others);
  else byTodo.delete(mine.id);
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Todos whose rows change together with the progress of a batch. */
const touchedByBatches = new Set<number>();

function redraw() {
  timer ??= setTimeout(draw, REDRAW_MS);
}

/** Shows what has changed, at once: what is said next is of that. */
export function draw() {
  clearTimeout(timer);
  timer = undefined;
  if (touchedByBatches.size > 0) onTouched(touchedByBatches);
  touchedByBatches.clear();
  outbox.update({
    waiting: waiting.single.size + waiting.batch.size,
    elsewhere: [...waiting.single.keys(), ...waiting.batch.keys()].filter((key) => !isSentHere(key)).length,
    stuck: [...changes.values()].filter(({ state }) => state === 'stuck'),
    batches: countBatches(),
  });
}

function countBatches() {
  const batches = new Map<string, Progress>();
  for (const { batch, mine } of waiting.batch.values()) {
    const { left } = batches.get(batch!.name) ?? { left: 0 };
    batches.set(batch!.name, { ...batch!, left: left + 1, isCompleted: mine.isCompleted });
  }
  return [...batches.values()];
}
