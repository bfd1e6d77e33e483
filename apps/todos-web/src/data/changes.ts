import { closeNotice, isNoticed, notify } from '../components/notices.tsx';
import { createRequestKey, type Todo } from './api.ts';
import { formatCount, shortened } from './format.ts';
import { idOf } from './ids.ts';
import { isConflict, isSame, merge } from './merge.ts';
import { changeOf, changesOf, draw, enter, isWaiting, outcomeOf, queued, update, type Change } from './outbox.ts';
import { isOnItsWay, send } from './sender.ts';
import { read, write } from './storage.ts';
import { outboxOpened, store } from './todos.ts';

// What people do. Each change goes into the outbox, and what a notice says of it becomes true before it is said.

/** A change that can be undone, of one todo or of several in the same way, or the undo of several while it is on its way. */
interface Made {
  about: string;
  ids: number[];
  /** What it changed, as it was before, and as it is after. */
  from: Partial<Todo>;
  to: Partial<Todo>;
  /** Text of the todo, where it is one. */
  subject: string;
  /** How many todos were to change together. */
  batchOf?: number;
  isUndo?: boolean;
}

/** Number of changes that can be undone after a reload of this tab. */
const MAX_KEPT = 20;

const history = read<Made[]>('history') ?? [];

addEventListener('pagehide', () => {
  const kept = history.slice(-MAX_KEPT).map((made) => ({ ...made, ids: made.ids.map(idOf) }));
  write('history', kept);
});

// What is still on its way after a reload is told of when it has arrived.
void outboxOpened.then(() => {
  for (const made of [...history]) {
    const keys = keysOfBatch(made.about);
    if (keys.length > 0 || made.isUndo) void follow(made, keys);
  }
});

/** Ticks todos, or takes their ticks away, and offers to undo that. */
export function tick(todos: Todo[], isCompleted: Todo['isCompleted']) {
  const changed = todos.filter((todo) => todo.isCompleted !== isCompleted);
  if (changed.length === 0) return;
  const made = toMake(changed, { isCompleted: changed[0]!.isCompleted }, { isCompleted });
  make(made, changed);
}

function toMake(todos: Todo[], from: Partial<Todo>, to: Partial<Todo>): Made {
  const [first] = todos;
  const isBatch = todos.length > 1;
  return {
    about: isBatch ? createRequestKey() : `todo ${idOf(first!.id)}`,
    ids: todos.map(({ id }) => id),
    from,
    to,
    subject: shortened(first!.description),
    ...(isBatch && { batchOf: todos.length }),
  };
}

/** Makes a change, and tells of it: at once where it is one, and when it is saved where they are many. */
function make(made: Made, todos: Todo[]) {
  const { about, to, batchOf } = made;
  const batch = batchOf && { batch: { name: about, of: batchOf } };
  const { keys } = enter(todos.map((base) => ({ base, mine: { ...base, ...to }, ...batch })));
  if (batch || !made.isUndo) history.push(made);
  if (!batch) tell(made);
  void follow(made, keys);
}

/** Waits for the changes that something was made of. Undo takes back what has been saved of it. */
async function follow(made: Made, keys: string[]) {
  const { about, batchOf, subject, isUndo } = made;
  const ids = keys.map((key) => changeOf(key)!.mine.id);
  const outcomes = await Promise.all(keys.map(outcomeOf));
  if (batchOf) {
    draw();
    const unsaved = new Set(ids.filter((_id, index) => outcomes[index] !== 'done').map(idOf));
    made.ids = made.ids.filter((id) => !unsaved.has(idOf(id)));
    if ((isUndo ? forget(made) : history.includes(made)) && made.ids.length > 0) tell(made);
  } else if (outcomes[0] === 'gone') notify({ about, subject, text: 'is no longer there.' });
  // The page says why it is not saved, unless it was taken back before it was sent.
  else if (outcomes[0] !== 'done') {
    forget(made);
    closeNotice(about);
  }
}

function tell(made: Made) {
  const { about, ids, to, subject, batchOf, isUndo } = made;
  const state = to.isCompleted ? 'done' : 'open again';
  const rest = batchOf ? batchOf - ids.length : 0;
  const whole = batchOf
    ? `${formatCount(ids.length)} ${ids.length === 1 ? 'todo is' : 'todos are'} ${state}`
    : `is ${to.description === undefined ? state : `“${shortened(to.description)}” now`}`;
  notify({
    about,
    isUndo,
    ...(!batchOf && { subject, item: idOf(ids[0]!) }),
    text: `${whole}${rest > 0 ? `; ${formatCount(rest)} stay as they were` : ''}.`,
    isPending: () => ids.some((id) => isWaiting(idOf(id))),
    onUndo: history.includes(made) ? () => takeBack(made) : undefined,
  });
}

/** Takes the last change back that has not been; one that is neither in sight nor named in a notice is named first. */
export function undo() {
  const last = history.findLast(({ isUndo }) => !isUndo);
  if (!last) notify({ about: 'undo', text: 'There is nothing to undo.' });
  else if (isNoticed(last.about) || last.ids.every(isInSight)) takeBack(last);
  else tell(last);
}

function isInSight(id: number) {
  const { top, bottom } = document.querySelector(`[data-item="${idOf(id)}"]`)?.getBoundingClientRect() ?? {};
  return top !== undefined && top >= 0 && bottom! <= innerHeight;
}

/** @returns whether it could be undone until now */
function forget(made: Made) {
  const at = history.indexOf(made);
  if (at >= 0) history.splice(at, 1);
  return at >= 0;
}

function takeBack(made: Made) {
  if (!forget(made)) return;
  const { about, ids, from, to, batchOf } = made;
  closeNotice(about);
  if (batchOf) stopBatch(about);
  const { shown } = store.get();
  const todos = ids.flatMap((id) => {
    const now = shown.get(idOf(id));
    // What has been changed since stays.
    return now && !isConflict(to, from, now) && !isSame(merge(to, from, now), now) ? now : [];
  });
  if (todos.length === 0) notify({ about, text: 'It has been changed since.' });
  else make({ ...toMake(todos, to, from), isUndo: true }, todos);
}

const keysOfBatch = (name: string) => [...queued()].flatMap(({ key, batch }) => (batch?.name === name ? key : []));

/** Leaves todos as they are whose change has not been sent yet. */
export function stopBatch(name: string) {
  const keys = keysOfBatch(name).filter((key) => !isOnItsWay(key));
  void update([], keys);
}

/** Drops a change that waits or was refused; with a new todo, all of its changes. */
export function discard({ key, base, mine }: Change) {
  if (!isOnItsWay(key)) void update([], base ? [key] : changesOf(mine.id).map((change) => change.key));
}

/** Adds todos in their order. @returns how many have been saved, once it is known of all */
export async function addTodos(todos: Omit<Todo, 'id'>[]) {
  const { keys } = enterTyped(todos.map((todo) => ({ mine: { id: 0, ...todo } })));
  return (await Promise.all(keys.map(outcomeOf))).filter((outcome) => outcome === 'done').length;
}

/** Enters changes of todos or new ones, at once; only a todo that exists can be done, so that ticks follow. */
function enterTyped(made: Pick<Change, 'base' | 'mine'>[], replaced: string[] = []) {
  const open = made.map(({ base, mine }) => (base ? { base, mine } : { mine: { ...mine, isCompleted: 0 as const } }));
  const { kept, keys } = enter(open, replaced);
  const isTicked = (_key: string, index: number) => !made[index]!.base && made[index]!.mine.isCompleted;
  const entered = keys.filter(isTicked).map((key) => changeOf(key)!.mine);
  enter(entered.map((base) => ({ base, mine: { ...base, isCompleted: 1 } })));
  return { kept, keys };
}

/**
 * Saves what was typed over a todo, or a new one.
 * @param base the todo that it was typed over; without one, it becomes a new one
 * @param replaced an earlier change that it stands for
 * @param isTold whether a notice names the change, because the form stays where it is
 */
export function saveTyped(base: Todo | undefined, mine: Todo, replaced?: string, isTold = false) {
  // A new todo that was refused keeps its place, to which later ticks belong.
  const id = base ? mine.id : Math.min(0, (replaced && changeOf(replaced)?.mine.id) || 0);
  const { kept, keys } = enterTyped([{ ...(base && { base }), mine: { ...mine, id } }], replaced ? [replaced] : []);
  const key = keys[0]!;
  const made = base && !isSame(base, mine) ? toMake([base], difference(mine, base), difference(base, mine)) : undefined;
  if (made) {
    history.push(made);
    if (isTold) tell(made);
    void follow(made, [key]);
  }
  const ended = outcomeOf(key).then((outcome) => {
    const onUndo = made && (() => takeBack(made));
    if (outcome === 'done' && !isTold) notify({ about: made?.about ?? key, text: 'Saved.', onUndo });
    return outcome;
  });
  return {
    key,
    /** Ends when a crash would lose nothing. */
    kept,
    /** How it has ended; nothing where it waits, because it can't be sent now. */
    ended: Promise.race([ended, kept.then(send).then(() => undefined)]),
  };
}

/** What of a todo is another in `some` than in `base`. */
const difference = (base: Todo, some: Todo): Partial<Todo> =>
  Object.fromEntries(Object.entries(some).filter(([name, value]) => value !== base[name as keyof Todo]));
