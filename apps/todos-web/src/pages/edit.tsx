import { useState } from 'preact/hooks';
import { asProblem, type Todo } from '../data/api.ts';
import { Loaded, Page } from '../components/page.tsx';
import { TodoForm } from '../components/todo-form.tsx';
import { shortened } from '../data/format.ts';
import { changesOf } from '../data/outbox.ts';
import { loadTodo, outboxOpened, pollMs } from '../data/todos.ts';
import { draftBase } from '../hooks/use-draft.ts';
import { useLoad } from '../hooks/use-load.ts';
import { useWayBack } from '../hooks/use-way-back.ts';
import { NotFound } from './not-found.tsx';

export function Edit({ id: idInAddress }: { id: string }) {
  const id = parseInt(idInAddress, 10);
  const [shown, setShown] = useState<Todo>();
  const [isGone, setGone] = useState(false);
  const leave = useWayBack(/^\/todos(\/\d+)?$/, `/todos/${id}`);
  const stuckChange = () => changesOf(id).find(({ state }) => state === 'stuck');
  const show = (todo: Todo) => setShown((first) => first ?? todo);
  const load = useLoad(async () => {
    try {
      await outboxOpened;
      await loadTodo(idInAddress, show);
    } catch (problem) {
      const typedOver = draftBase(`${id}`) ?? stuckChange()?.base;
      if (asProblem(problem).kind !== 'missing' || !typedOver) throw problem;
      show(typedOver);
      setGone(true);
    }
  }, pollMs);
  if (load.problem && load.problem.kind !== 'failed' && !shown) return <NotFound isTodo />;

  return (
    <Page title={shown ? `Edit “${shortened(shown.description)}”` : `Edit todo ${id}`} heading="Edit todo">
      {shown ? (
        <TodoForm
          draftKey={`${id}`}
          initial={shown}
          wasGone={isGone}
          stuck={stuckChange()}
          cancel={isGone ? '/todos' : `/todos/${id}`}
          onLeave={(isNoMore) => leave(isNoMore ? '/todos' : undefined)}
        />
      ) : (
        <Loaded what={`Todo ${id}`} isThere={false} load={load} />
      )}
    </Page>
  );
}
