import { useLocation, useRoute } from 'preact-iso/router';
import { useMemo, useRef } from 'preact/hooks';
import type { Todo } from '../api.ts';
import { PencilIcon } from '../icons.tsx';
import { Empty, Failure, Loading, Page } from '../page.tsx';
import { loadTodos, setCompleted, useTodos } from '../todos.ts';
import { useFreshLoad } from '../use-load.ts';
import { VirtualList } from '../virtual-list.tsx';

const filters = { all: 'All', open: 'Open', done: 'Done' };
type Filter = keyof typeof filters;

/** Address that holds filter and search, so that users can reload them, go back to them and share them. */
const address = (show: string, text: string) => {
  const query = new URLSearchParams({ ...(show === 'all' ? {} : { show }), ...(text ? { q: text } : {}) });
  return query.size > 0 ? `/todos?${query}` : '/todos';
};

export function List() {
  const { query } = useRoute();
  const { timesLoaded, todos } = useTodos();
  const load = useFreshLoad(loadTodos);
  const show = query.show && Object.hasOwn(filters, query.show) ? (query.show as Filter) : 'all';
  const text = query.q ?? '';
  return (
    <Page title={`${filters[show]} todos`} heading={`${filters[show]} todos`}>
      {load.problem && (
        <Failure what={`Your todos could not be ${timesLoaded > 0 ? 'brought up to date' : 'loaded'}.`} load={load} />
      )}
      {timesLoaded > 0 ? (
        <Todos todos={todos()} timesLoaded={timesLoaded} show={show} text={text} />
      ) : (
        load.isLoading && !load.problem && <Loading rows={6} />
      )}
    </Page>
  );
}

interface TodosProps {
  todos: Todo[];
  timesLoaded: number;
  show: Filter;
  text: string;
}

function Todos({ todos, timesLoaded, show, text }: TodosProps) {
  const { route } = useLocation();
  // A toggled row keeps its place until the user opens, filters or searches the list again.
  const places = useRef({ show, text, byId: new Map<number, Todo['isCompleted']>() });
  if (places.current.show !== show || places.current.text !== text) places.current = { show, text, byId: new Map() };
  const { byId: placed } = places.current;
  const order = useMemo(() => arranged(todos, show, text, placed), [timesLoaded, todos.length, show, text]);
  const byId = new Map(todos.map((todo) => [todo.id, todo]));
  const done = todos.filter(({ isCompleted }) => isCompleted).length;
  const counts = { all: todos.length, open: todos.length - done, done };

  function toggle({ id, isCompleted }: Todo) {
    if (!placed.has(id)) placed.set(id, isCompleted);
    void setCompleted(id, isCompleted ? 0 : 1);
  }

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
          dir="auto"
          value={text}
          onInput={({ currentTarget }) => route(address(show, currentTarget.value), true)}
        />
      </div>
      <p class="hidden" role="status">
        {order.length === 1 ? '1 todo is listed' : `${order.length.toLocaleString('en')} todos are listed`}
      </p>
      {order.length > 0 ? (
        <VirtualList items={order}>{(id) => <Row todo={byId.get(id)!} onToggle={toggle} />}</VirtualList>
      ) : (
        <Nothing show={show} text={text} />
      )}
    </>
  );
}

/**
 * The ids of the todos that are to be shown: open before done, the newest of each first.
 * @param placed those that keep their place, with what decided it
 */
function arranged(todos: Todo[], show: Filter, text: string, placed: Map<number, Todo['isCompleted']>) {
  const searched = anyCase(text.trim());
  return todos
    .map((todo) => ({ ...todo, isCompleted: placed.get(todo.id) ?? todo.isCompleted }))
    .filter(({ isCompleted }) => show === 'all' || (show === 'done') === (isCompleted === 1))
    .filter(({ description }) => searched.test(description))
    .sort((a, b) => a.isCompleted - b.isCompleted || b.id - a.id)
    .map(({ id }) => id);
}

/** Matches a text in any case of its letters. Lower case would tell `ς` from `σ`. */
const anyCase = (text: string) => new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`), 'iu');

function Row({ todo, onToggle }: { todo: Todo; onToggle: (todo: Todo) => void }) {
  const { id, description, isCompleted } = todo;
  return (
    <div class={isCompleted ? 'row done' : 'row'}>
      <label>
        <input
          type="checkbox"
          aria-label={`Done: ${description}`}
          checked={isCompleted === 1}
          onChange={() => onToggle(todo)}
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
      {text ? (
        <p>
          No {kind}todo contains “<bdi>{text}</bdi>”.
        </p>
      ) : (
        <p>There are no {kind}todos.</p>
      )}
      <a
        href={text ? address(show, '') : '/todos'}
        onClick={() => document.querySelector<HTMLElement>('[type=search]')!.focus()}
      >
        {text ? 'Clear the search' : 'Show all todos'}
      </a>
    </Empty>
  );
}
