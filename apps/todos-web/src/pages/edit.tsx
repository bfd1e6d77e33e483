import { useLocation, useRoute } from 'preact-iso/router';
import { Failure, Loading, Page } from '../page.tsx';
import { TodoForm } from '../todo-form.tsx';
import { loadTodo, saveTodo, shortened, useTodos } from '../todos.ts';
import { useLoad } from '../use-load.ts';
import { TodoNotFound } from './not-found.tsx';

export function Edit() {
  const { id } = useRoute().params as { id: string };
  return <EditTodo key={id} id={id} />;
}

function EditTodo({ id }: { id: string }) {
  const { route } = useLocation();
  const todo = useTodos().todo(parseInt(id, 10));
  const load = useLoad(() => loadTodo(id));
  if (load.problem && load.problem.kind !== 'failed') return <TodoNotFound />;

  const isThere = todo && !load.isLoading && !load.problem;
  return (
    <Page title={todo ? `Edit “${shortened(todo.description)}”` : `Edit todo ${id}`} heading="Edit todo">
      {load.problem && <Failure what={`Todo ${id} could not be loaded.`} load={load} />}
      {load.isLoading && !load.problem && <Loading />}
      {isThere && (
        <TodoForm
          draftKey={`${todo.id}`}
          initial={todo}
          cancel={`/todos/${todo.id}`}
          onSave={(_values, changes) => saveTodo(todo.id, changes)}
          onSaved={() => route(`/todos/${todo.id}`, true)}
        />
      )}
    </Page>
  );
}
