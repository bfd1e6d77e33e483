import { useLocation, useRoute } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { Conflict, Problem, type TaggedTodo } from '../data/api.ts';
import { Failure, Loading, Page } from '../components/page.tsx';
import { TodoForm, type Values } from '../components/todo-form.tsx';
import { shortened } from '../data/format.ts';
import { setCompleted } from '../data/tick.ts';
import { createTodo, loadTaggedTodo, saveTodo } from '../data/todos.ts';
import { draftBase } from '../hooks/use-draft.ts';
import { useLoad } from '../hooks/use-load.ts';
import { TodoNotFound } from './not-found.tsx';

export function Edit() {
  const { id } = useRoute().params as { id: string };
  return <EditTodo key={id} id={id} />;
}

function EditTodo({ id: idInAddress }: { id: string }) {
  const { route } = useLocation();
  const id = parseInt(idInAddress, 10);
  const [shown, setShown] = useState<TaggedTodo>();
  const [isGone, setGone] = useState(false);
  const load = useLoad(async () => {
    try {
      setShown(await loadTaggedTodo(idInAddress));
    } catch (problem) {
      const typedBefore = isMissing(problem) && (draftBase(`${id}`) as Values | undefined);
      if (!typedBefore) throw problem;
      setShown({ todo: { id, isCompleted: 0, ...typedBefore }, tag: undefined });
      setGone(true);
    }
  });
  if (load.problem && load.problem.kind !== 'failed') return <TodoNotFound />;

  async function save({ description, isCompleted = 0 }: Values, requestKey: string) {
    if (isGone) {
      const newId = await createTodo(description, requestKey);
      if (isCompleted) void setCompleted([newId], 1);
      return;
    }
    try {
      await saveTodo({ id, description, isCompleted }, shown!);
    } catch (problem) {
      if (problem instanceof Conflict) setShown(problem.present);
      if (isMissing(problem)) setGone(true);
      throw problem;
    }
  }

  const wayOut = isGone ? '/todos' : `/todos/${id}`;
  return (
    <Page title={shown ? `Edit “${shortened(shown.todo.description)}”` : `Edit todo ${id}`} heading="Edit todo">
      {load.problem && <Failure what={`Todo ${id} could not be loaded.`} load={load} />}
      {load.isLoading && !load.problem && <Loading />}
      {shown && !load.isLoading && (
        <TodoForm
          draftKey={`${id}`}
          initial={{ description: shown.todo.description, isCompleted: shown.todo.isCompleted }}
          isGone={isGone}
          cancel={wayOut}
          onSave={save}
          onSaved={() => route(wayOut, true)}
        />
      )}
    </Page>
  );
}

const isMissing = (problem: unknown) => problem instanceof Problem && problem.kind === 'missing';
