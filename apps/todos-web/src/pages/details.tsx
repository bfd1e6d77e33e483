import { useRoute } from 'preact-iso/router';
import { BackIcon, CheckIcon, PencilIcon } from '../components/icons.tsx';
import { Linked } from '../components/linked.tsx';
import { Failure, Loading, Page } from '../components/page.tsx';
import { shortened } from '../data/format.ts';
import { setCompleted } from '../data/tick.ts';
import { loadTodo, useTodos } from '../data/todos.ts';
import { useFreshLoad } from '../hooks/use-load.ts';
import { TodoNotFound } from './not-found.tsx';

export function Details() {
  const { id } = useRoute().params as { id: string };
  return <TodoDetails key={id} id={id} />;
}

function TodoDetails({ id }: { id: string }) {
  const todo = useTodos().todo(parseInt(id, 10));
  const load = useFreshLoad(() => loadTodo(id));
  if (load.problem && load.problem.kind !== 'failed') return <TodoNotFound />;

  return (
    <Page
      class="details"
      title={todo ? shortened(todo.description) : `Todo ${id}`}
      heading={todo ? <Linked text={todo.description} /> : `Todo ${id}`}
    >
      {load.problem && (
        <Failure what={`Todo ${id} could not be ${todo ? 'brought up to date' : 'loaded'}.`} load={load} />
      )}
      {!todo && load.isLoading && !load.problem && <Loading />}
      {todo && (
        <div class="card">
          <p class={todo.isCompleted ? 'state done' : 'state'}>
            <span>{todo.isCompleted ? 'Done' : 'Open'}</span> Todo {todo.id}
          </p>
          <p class="actions">
            <button type="button" class="button" onClick={() => void setCompleted([todo.id], todo.isCompleted ? 0 : 1)}>
              <CheckIcon /> {todo.isCompleted ? 'Open it again' : 'Mark as done'}
            </button>
            <a class="button quiet" href={`/todos/edit/${todo.id}`}>
              <PencilIcon /> Edit
            </a>
          </p>
        </div>
      )}
      <p>
        <a class="back" href="/todos">
          <BackIcon /> All todos
        </a>
      </p>
    </Page>
  );
}
