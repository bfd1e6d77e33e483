import { BackIcon, CheckIcon, ClockIcon, PencilIcon } from '../components/icons.tsx';
import { Linked } from '../components/linked.tsx';
import { Failure, Loading, Page } from '../components/page.tsx';
import { tick } from '../data/changes.ts';
import { shortened } from '../data/format.ts';
import { isWaiting, outbox } from '../data/outbox.ts';
import { isForAnotherWindow } from '../data/router.ts';
import { loadTodo, store } from '../data/todos.ts';
import { useFreshLoad } from '../hooks/use-load.ts';
import { useWayBack } from '../hooks/use-way-back.ts';
import { NotFound } from './not-found.tsx';

export function Details({ id }: { id: string }) {
  const todo = store.use().shown.get(parseInt(id, 10));
  outbox.use();
  const leave = useWayBack(/^\/todos$/, '/todos', parseInt(id, 10));
  const load = useFreshLoad(() => loadTodo(id));
  if (load.problem && load.problem.kind !== 'failed') return <NotFound isTodo />;

  return (
    <Page
      title={todo ? shortened(todo.description) : `Todo ${id}`}
      heading={todo ? <Linked text={todo.description} /> : `Todo ${id}`}
    >
      {load.problem && (
        <Failure what={`Todo ${id} could not be ${todo ? 'brought up to date' : 'loaded'}.`} load={load} />
      )}
      {!todo && load.isLoading && !load.problem && <Loading />}
      {todo && (
        <div class="card" data-item={todo.id}>
          <p class="line small">
            <b>{todo.isCompleted ? 'Done' : 'Open'}</b> Todo {todo.id}
            {isWaiting(todo.id) && (
              <span class="waiting">
                <ClockIcon /> Not sent yet
              </span>
            )}
          </p>
          <p class="line actions">
            <button type="button" class="button" onClick={() => tick([todo], todo.isCompleted ? 0 : 1)}>
              {!todo.isCompleted && <CheckIcon />}
              {todo.isCompleted ? 'Open it again' : 'Mark as done'}
            </button>
            <a class="button quiet" href={`/todos/edit/${todo.id}`}>
              <PencilIcon /> Edit
            </a>
          </p>
          <p class="small">A todo cannot be deleted: the service has no way to.</p>
        </div>
      )}
      <p>
        <a
          class="back"
          href="/todos"
          onClick={(event) => {
            if (isForAnotherWindow(event)) return;
            event.preventDefault();
            leave();
          }}
        >
          <BackIcon /> All todos
        </a>
      </p>
    </Page>
  );
}
