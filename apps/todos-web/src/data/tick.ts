import { OfflineProblem, type Todo } from './api.ts';
import { formatCount, shortened } from './format.ts';
import { closeNotice, notify } from '../components/notices.tsx';
import { changeTodo, inTurn, loadTodo, store } from './todos.ts';

type Completed = Todo['isCompleted'];

const aboutTodo = (id: number) => `todo ${id}`;

function want(ids: number[], isCompleted: Completed | undefined) {
  const wanted = new Map(store.get().wanted);
  for (const id of ids) {
    if (isCompleted === undefined) wanted.delete(id);
    else wanted.set(id, isCompleted);
  }
  store.update({ wanted });
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
    saved = await changeTodo(id, { isCompleted: store.get().wanted.get(id)! });
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
