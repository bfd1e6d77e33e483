import { createRequestKey, type ProblemKind, type Todo } from './api.ts';
import { learnId, negativeId } from './ids.ts';
import { forgetDone, readChanges, writeChanges } from './kept-changes.ts';
import { createStore } from './store.ts';

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
  sentAt?: number;
  /** Changes that were made together, and how many they were. */
  batch?: { name: string; of: number };
  problem?: { kind: ProblemKind; message: string };
  /** What another client has made of the todo. */
  present?: Todo;
  doneAt?: number;
}

/** How a change has ended; `removed` when a person took it back before it was sent. */
export type Outcome = 'done' | 'stuck' | 'removed';

/** How far a batch has got. */
type Progress = NonNullable<Change['batch']> & { left: number; isCompleted: Todo['isCompleted'] };

/** What pages show of the outbox. It follows the changes with a delay, so that many of them redraw a page a few times a second. */
export const outbox = createStore({
  /** Whether it is known what earlier pages have left. */
  isOpened: false,
  waiting: 0,
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

const watchers = new Map<string, (outcome: Outcome) => void>();
const channel = new BroadcastChannel('outbox');
const tab = createRequestKey();
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
  channel.onmessage = ({ data }: MessageEvent<{ put: Change[]; removed: string[]; trouble?: string }>) => {
    apply(data.put, data.removed);
    if ('trouble' in data) outbox.update({ trouble: data.trouble });
  };
  addEventListener('beforeunload', (event) => {
    if (!outbox.get().isKept && waiting.single.size + waiting.batch.size > 0) event.preventDefault();
  });
  await reread(true);
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

/** Tells other tabs, too, why nothing can be sent, or that it can. */
export function setTrouble(trouble: string | undefined) {
  if (trouble === outbox.get().trouble) return;
  outbox.update({ trouble });
  channel.postMessage({ put: [], removed: [], trouble });
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
    const isNew = change.base === undefined;
    const mine = isNew ? { ...change.mine, id: negativeId(key) } : change.mine;
    return { ...change, mine, key, state: 'waiting', ...(isNew && { requestKey: createRequestKey() }) };
  });
  const outcomes = entered.map(({ key }) => new Promise<Outcome>((resolve) => watchers.set(key, resolve)));
  apply(entered, replaced);
  const kept = keepInChunks(entered, replaced);
  return { kept, outcomes, keys: entered.map(({ key }) => key) };
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
export async function update(put: Change[], removed: string[] = []) {
  apply(put, removed);
  await keep(put, removed);
  // Later changes of the same todo have waited for it.
  if (removed.length > 0) onEntered();
}

async function keep(put: Change[], removed: string[]) {
  const isKept = await writeChanges(put, removed).then(
    () => true,
    () => false,
  );
  if (isKept !== outbox.get().isKept) outbox.update({ isKept });
  channel.postMessage({ put, removed });
}

/** Forgets what is done and shown by a list that was asked for later. Other pages may show an older list. */
export function dropDone(askedAt: number, isListKept: boolean, id?: number) {
  const isOver = (change: Change) => change.state === 'done' && change.doneAt! < askedAt;
  const over = id === undefined ? [...changes.values()].filter(isOver) : changesOf(id).filter(isOver);
  apply(
    [],
    over.map(({ key }) => key),
  );
  if (isListKept) void forgetDone(askedAt).catch(() => undefined);
}

function apply(put: Change[], removed: string[]) {
  const touched = new Set<number>();
  for (const key of removed) {
    const change = changes.get(key);
    if (!change) continue;
    unindex(change);
    queueOf(change).delete(key);
    touched.add(change.mine.id);
    changes.delete(key);
    settle(change, 'removed');
  }
  for (const change of put) {
    const before = changes.get(change.key);
    // Another tab may tell of it later than it has been sent.
    if (over.has(change.key) && change.state === 'waiting') continue;
    if (before) {
      unindex(before);
      touched.add(before.mine.id);
    }
    index(change);
    touched.add(change.mine.id);
    if (change.state !== 'waiting') settle(change, change.state);
  }
  if (touched.size === 0) return;
  onTouched(touched);
  redraw();
}

function settle({ key }: Change, outcome: Outcome) {
  if (outcome !== 'stuck') over.add(key);
  watchers.get(key)?.(outcome);
  watchers.delete(key);
}

const queueOf = ({ batch }: Change) => waiting[batch ? 'batch' : 'single'];

function index(change: Change) {
  const { key, state, base, mine } = change;
  changes.set(key, change);
  latest = Math.max(latest, parseInt(key, 10));
  const others = changesOf(mine.id);
  byTodo.set(
    mine.id,
    [...others, change].sort((a, b) => (a.key < b.key ? -1 : 1)),
  );
  if (!base && mine.id > 0) learnId(key, mine.id);
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

function redraw() {
  timer ??= setTimeout(() => {
    timer = undefined;
    outbox.update({
      waiting: waiting.single.size + waiting.batch.size,
      stuck: [...changes.values()].filter(({ state }) => state === 'stuck'),
      batches: countBatches(),
    });
  }, REDRAW_MS);
}

function countBatches() {
  const batches = new Map<string, Progress>();
  for (const { batch, mine } of waiting.batch.values()) {
    const { left } = batches.get(batch!.name) ?? { left: 0 };
    batches.set(batch!.name, { ...batch!, left: left + 1, isCompleted: mine.isCompleted });
  }
  return [...batches.values()];
}
