import { useLocation, useRoute } from 'preact-iso/router';
import { useMemo } from 'preact/hooks';
import type { Todo } from '../api.ts';
import { PencilIcon } from '../icons.tsx';
import { Empty, Failure, Loading, Page } from '../page.tsx';
import { loadTodos, setCompleted, useTodos } from '../todos.ts';
import { useLoad } from '../use-load.ts';
import { VirtualList } from '../virtual-list.tsx';

const filters = { all: 'All', open: 'Open', done: 'Done' };
type Filter = keyof typeof filters;

/** Filter and search are in the address, so that they can be reloaded, gone back to and sent to somebody. */
const address = (show: string, text: string) => {
  const query = new URLSearchParams({ ...(show === 'all' ? {} : { show }), ...(text ? { q: text } : {}) });
  return query.size > 0 ? `/todos?${query}` : '/todos';
};

export function List() {
  const { query } = useRoute();
  const { lists, todos } = useTodos();
  const load = useLoad(loadTodos);
  const show = query.show && query.show in filters ? (query.show as Filter) : 'all';
  const text = query.q ?? '';
  return (
    <Page title={show === 'all' ? 'All todos' : `${filters[show]} todos`} heading="All todos">
      {load.problem && (
        <Failure what={`Your todos could not be ${lists > 0 ? 'brought up to date' : 'loaded'}.`} load={load} />
      )}
      {lists > 0 ? (
        <Todos todos={todos()} lists={lists} show={show} text={text} />
      ) : (
        load.isLoading && !load.problem && <Loading rows={6} />
      )}
    </Page>
  );
}

interface TodosProps {
  todos: Todo[];
  lists: number;
  show: Filter;
  text: string;
}

function Todos({ todos, lists, show, text }: TodosProps) {
  const { route } = useLocation();
  // A row that is toggled stays where it is, until the list is loaded, filtered or searched anew.
  const order = useMemo(() => arranged(todos, show, text), [lists, todos.length, show, text]);
  const byId = new Map(todos.map((todo) => [todo.id, todo]));
  const done = todos.filter(({ isCompleted }) => isCompleted).length;
  const counts = { all: todos.length, open: todos.length - done, done };

  if (todos.length === 0) {
    return (
      <Empty>
        <p>There are no todos yet.</p>
        <a class="button" href="/todos/new">
          Write down the first one
        </a>
      </Empty>
    );
  }
  return (
    <>
      <div class="tools">
        <nav class="filters" aria-label="Filter">
          {Object.entries(filters).map(([name, label]) => (
            <a key={name} href={address(name, text)} aria-current={name === show ? 'page' : undefined}>
              {label} <span>{counts[name as Filter].toLocaleString('en')}</span>
            </a>
          ))}
        </nav>
        <input
          type="search"
          aria-label="Search"
          placeholder="Search"
          value={text}
          onInput={({ currentTarget }) => route(address(show, currentTarget.value), true)}
        />
      </div>
      <p class="hidden" role="status">
        {order.length === 1 ? '1 todo is listed' : `${order.length.toLocaleString('en')} todos are listed`}
      </p>
      {order.length > 0 ? (
        <VirtualList items={order}>{(id) => <Row {...byId.get(id)!} />}</VirtualList>
      ) : (
        <Nothing show={show} text={text} />
      )}
    </>
  );
}

/** The ids of the todos that are to be shown: open before done, the newest of each first. */
function arranged(todos: Todo[], show: Filter, text: string) {
  const wanted = text.trim().toLowerCase();
  return todos
    .filter(({ isCompleted }) => show === 'all' || (show === 'done') === (isCompleted === 1))
    .filter(({ description }) => description.toLowerCase().includes(wanted))
    .sort((a, b) => a.isCompleted - b.isCompleted || b.id - a.id)
    .map(({ id }) => id);
}

function Row({ id, description, isCompleted }: Todo) {
  return (
    <div class={isCompleted ? 'row done' : 'row'}>
      <label>
        <input
          type="checkbox"
          aria-label={`Done: ${description}`}
          checked={isCompleted === 1}
          onChange={() => void setCompleted(id, isCompleted ? 0 : 1)}
        />
      </label>
      <a href={`/todos/${id}`} dir="auto">
        <span>{description}</span>
      </a>
      <a class="edit" href={`/todos/edit/${id}`} aria-label={`Edit: ${description}`}>
        <PencilIcon />
      </a>
    </div>
  );
}

function Nothing({ show, text }: Pick<TodosProps, 'show' | 'text'>) {
  const kind = show === 'all' ? '' : `${show} `;
  return (
    <Empty>
      <p>{text ? `No ${kind}todo contains “${text}”.` : `There are no ${kind}todos.`}</p>
      <a href={text ? address(show, '') : '/todos'}>{text ? 'Clear the search' : 'Show all todos'}</a>
    </Empty>
  );
}
