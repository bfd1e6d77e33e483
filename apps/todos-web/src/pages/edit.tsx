import { useState } from 'preact/hooks';
import { Problem, type Todo } from '../data/api.ts';
import { Failure, Loading, Page } from '../components/page.tsx';
import { TodoForm } from '../components/todo-form.tsx';
import type { Values } from '../data/description.ts';
import { shortened } from '../data/format.ts';
import { changesOf } from '../data/outbox.ts';
import { loadTodo, outboxOpened } from '../data/todos.ts';
import { draftBase } from '../hooks/use-draft.ts';
import { useLoad } from '../hooks/use-load.ts';
import { useWayBack } from '../hooks/use-way-back.ts';
import { NotFound } from './not-found.tsx';

export function Edit({ id: idInAddress }: { id: string }) {
  const id = parseInt(idInAddress, 10);
  const [shown, setShown] = useState<Todo>();
  const [isGone, setGone] = useState(false);
  const leave = useWayBack(/^\/todos(\/\d+)?$/, `/todos/${id}`, id);
  const stuckChange = () => changesOf(id).find(({ state }) => state === 'stuck');
  const load = useLoad(async () => {
    try {
      await outboxOpened;
      await loadTodo(idInAddress, (todo) => setShown((first) => first ?? todo));
    } catch (problem) {
      const typedBefore = (draftBase(`${id}`) as Values | undefined) ?? stuckChange()?.base;
      if (!isMissing(problem) || !typedBefore) throw problem;
      setShown((first) => first ?? { isCompleted: 0, ...typedBefore, id });
      setGone(true);
    }
  });
  if (load.problem && load.problem.kind !== 'failed' && !shown) return <NotFound isTodo />;

  return (
    <Page title={shown ? `Edit “${shortened(shown.description)}”` : `Edit todo ${id}`} heading="Edit todo">
      {load.problem && !shown && <Failure what={`Todo ${id} could not be loaded.`} load={load} />}
      {!shown && load.isLoading && !load.problem && <Loading />}
      {shown && (
        <TodoForm
          draftKey={`${id}`}
          id={id}
          initial={{ description: shown.description, isCompleted: shown.isCompleted }}
          isGone={isGone}
          stuck={stuckChange()}
          cancel={isGone ? '/todos' : `/todos/${id}`}
          onLeave={(isNoMore) => leave(isNoMore ? '/todos' : undefined)}
        />
      )}
    </Page>
  );
}

const isMissing = (problem: unknown) => problem instanceof Problem && problem.kind === 'missing';
