import { closeNotice, isNoticed, notify } from '../components/notices.tsx';
import { createRequestKey, type Todo } from './api.ts';
import { formatCount, shortened } from './format.ts';
import { idOf } from './ids.ts';
import { isConflict, isSame, merge } from './merge.ts';
import { changeOf, enter, isWaiting, update, waiting } from './outbox.ts';
import { isOnItsWay, send } from './sender.ts';
import { store } from './todos.ts';

// What people do. Each change goes into the outbox, and what a notice says of it becomes true before it is said.

/** A change that can be undone, of one todo or of several. */
interface Made {
  about: string;
  before: Todo[];
  after: Todo[];
  batch?: { name: string; of: number };
  isUndo?: boolean;
}

const history: Made[] = [];

/** Ticks todos, or takes their ticks away, and offers to undo that. */
export function tick(todos: Todo[], isCompleted: Todo['isCompleted']) {
  const before = todos.filter((todo) => todo.isCompleted !== isCompleted);
  if (before.length === 0) return;
  const made = toMake(before, (todo) => ({ ...todo, isCompleted }));
  history.push(made);
  void make(made);
}

function toMake(before: Todo[], change: (todo: Todo, index: number) => Todo): Made {
  const [first, second] = before;
  const about = second ? createRequestKey() : aboutTodo(first!.id);
  return { about, before, after: before.map(change), ...(second && { batch: { name: about, of: before.length } }) };
}

const aboutTodo = (id: number) => `todo ${idOf(id)}`;

/** Makes a change, and tells of it: at once where it is one, and when it is saved. */
async function make(made: Made) {
  const { about, before, after, batch } = made;
  const { outcomes } = enter(before.map((base, index) => ({ base, mine: after[index]!, ...(batch && { batch }) })));
  if (!batch) tell(made);
  const ended = await Promise.all(outcomes);
  const isDone = (_todo: Todo, index: number) => ended[index] === 'done';
  const saved = before.filter(isDone).length;
  if (saved < before.length && !batch) {
    const subject = shortened(before[0]!.description);
    if (ended[0] === 'removed') notify({ about, subject, text: 'is no longer there.' });
    return;
  }
  // Of a batch that was stopped, undo takes back what has been saved.
  made.before = before.filter(isDone);
  made.after = after.filter(isDone);
  const isStill = made.isUndo || history.includes(made);
  if (isStill && saved > 0 && (batch || isNoticed(about))) tell(made);
}

/** Tells of a change, and whether it is saved. */
function tell(made: Made) {
  const { about, before, after, batch, isUndo } = made;
  const isSaved = !after.some(({ id }) => isWaiting(idOf(id)));
  const subject = shortened(before[0]!.description);
  const isText = !batch && before[0]!.description !== after[0]!.description;
  const state = after[0]!.isCompleted ? 'done' : 'open again';
  const rest = batch ? batch.of - after.length : 0;
  const whole = isText
    ? `is “${shortened(after[0]!.description)}” now`
    : `${batch ? `${formatCount(after.length)} ${after.length === 1 ? 'todo is' : 'todos are'}` : 'is'} ${state}`;
  notify({
    about,
    isUndo,
    ...(batch ? {} : { subject, item: idOf(before[0]!.id) }),
    text: `${whole}${isSaved ? '' : ', not yet saved'}${rest > 0 ? `; ${formatCount(rest)} stay as they were` : ''}.`,
    onUndo: history.includes(made) ? () => takeBack(made) : undefined,
  });
}

/** Takes the last change back that has not been; one that is neither in sight nor named in a notice is named first. */
export function undo() {
  const last = history.at(-1);
  if (!last) notify({ about: 'undo', text: 'There is nothing to undo.' });
  else if (isNoticed(last.about) || last.before.every(isInSight)) takeBack(last);
  else tell(last);
}

function isInSight({ id }: Todo) {
  const { top, bottom } = document.querySelector(`[data-item="${idOf(id)}"]`)?.getBoundingClientRect() ?? {};
  return top !== undefined && top >= 0 && bottom! <= innerHeight;
}

function takeBack(made: Made) {
  const at = history.indexOf(made);
  if (at < 0) return;
  history.splice(at, 1);
  closeNotice(made.about);
  if (made.batch) stopBatch(made.batch.name);
  const { shown } = store.get();
  const before: Todo[] = [];
  const after: Todo[] = [];
  made.before.forEach((was, index) => {
    const now = shown.get(idOf(was.id));
    if (!now) return;
    const changed = made.after[index]!;
    // What has been changed since stays.
    const undone = merge(changed, { ...was, id: changed.id }, now);
    if (isConflict(changed, was, now) || isSame(now, undone)) return;
    before.push(now);
    after.push(undone);
  });
  if (after.length === 0) {
    notify({ about: made.about, text: 'It has been changed since.' });
    return;
  }
  const undone = { ...toMake(before, (_todo, index) => after[index]!), isUndo: true };
  void make(undone);
}

/** Leaves todos as they are whose change has not been sent yet. */
export function stopBatch(name: string) {
  const keys = [...waiting.batch.values()].filter(({ batch }) => batch!.name === name).map(({ key }) => key);
  void update(
    [],
    keys.filter((key) => !isOnItsWay(key)),
  );
}

/** Adds todos in their order. @returns how many have been saved, once it is known of all */
export async function addTodos(descriptions: string[]) {
  const { outcomes } = enter(descriptions.map((description) => ({ mine: { id: 0, description, isCompleted: 0 } })));
  return (await Promise.all(outcomes)).filter((outcome) => outcome === 'done').length;
}

/**
 * Saves what was typed into a form.
 * @param base the todo that it was typed over; without one, it becomes a new one
 * @param replaced an earlier change that it stands for
 */
export function saveTyped(base: Todo | undefined, mine: Todo, replaced?: string) {
  const { kept, outcomes, keys } = enter(
    [base ? { base, mine } : { mine: { ...mine, isCompleted: 0 } }],
    replaced ? [replaced] : [],
  );
  const key = keys[0]!;
  const { id } = changeOf(key)!.mine;
  if (!base && mine.isCompleted) enter([{ base: { ...mine, id, isCompleted: 0 }, mine: { ...mine, id } }]);
  const made = base && !isSame(base, mine) && { about: aboutTodo(id), before: [base], after: [mine] };
  if (made) history.push(made);
  const ended = outcomes[0]!.then((outcome) => {
    if (outcome === 'done') {
      notify({
        about: made ? made.about : key,
        text: 'Saved.',
        onUndo: made ? () => takeBack(made) : undefined,
      });
    } else if (made && history.includes(made)) history.splice(history.indexOf(made), 1);
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
