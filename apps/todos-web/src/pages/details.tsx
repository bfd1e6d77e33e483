import { BackIcon, CheckIcon, ClockIcon, PencilIcon } from '../components/icons.tsx';
import { Linked } from '../components/linked.tsx';
import { Loaded, Page } from '../components/page.tsx';
import { tick } from '../data/changes.ts';
import { shortened } from '../data/format.ts';
import { isWaiting, outbox } from '../data/outbox.ts';
import { instead } from '../data/router.ts';
import { loadTodo, pollMs, store } from '../data/todos.ts';
import { useLoad } from '../hooks/use-load.ts';
import { useWayBack } from '../hooks/use-way-back.ts';
import { NotFound } from './not-found.tsx';

export function Details({ id }: { id: string }) {
  const todo = store.use().shown.get(parseInt(id, 10));
  outbox.use();
  const leave = useWayBack(/^\/todos$/, '/todos');
  const load = useLoad(() => loadTodo(id), pollMs);
  if (load.problem && load.problem.kind !== 'failed') return <NotFound isTodo />;

  return (
    <Page
      title={todo ? shortened(todo.description) : `Todo ${id}`}
      heading={todo ? <Linked text={todo.description} /> : `Todo ${id}`}
    >
      <Loaded what={`Todo ${id}`} isThere={todo !== undefined} load={load} />
      {todo && (
        <div class="card" data-item={todo.id}>
          <p class="line small">
            <b>{todo.isCompleted ? 'Done' : 'Open'}</b> Todo {todo.id}
            {isWaiting(todo.id) && (
              <span class="line waiting">
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
        <a class="back" href="/todos" onClick={instead(leave)}>
          <BackIcon /> All todos
        </a>
      </p>
    </Page>
  );
}
