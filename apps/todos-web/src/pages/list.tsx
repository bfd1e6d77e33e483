import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { AddField } from '../components/add-field.tsx';
import type { Todo } from '../data/api.ts';
import { addTodos, tick } from '../data/changes.ts';
import { formatCount, shortened } from '../data/format.ts';
import { notify } from '../components/notices.tsx';
import { MoreIcon } from '../components/icons.tsx';
import { Failure, Loading, Page } from '../components/page.tsx';
import { Row } from '../components/row.tsx';
import { route, useLocation } from '../data/router.ts';
import { prepareSearch, search } from '../data/search.ts';
import { Selection, withToggled } from '../components/selection.tsx';
import { SEARCH_HASH } from '../components/shortcuts.tsx';
import { firstIdOf, idOf } from '../data/ids.ts';
import { isWaiting, outbox } from '../data/outbox.ts';
import { isListTagged, loadTodos, useTodos } from '../data/todos.ts';
import { useListener } from '../hooks/use-listener.ts';
import { useFreshLoad } from '../hooks/use-load.ts';
import { read, write } from '../data/storage.ts';
import { takeLeftTodo } from '../hooks/use-way-back.ts';
import { VirtualList } from '../components/virtual-list.tsx';

const filters = { all: 'All', open: 'Open', done: 'Done' };
type Filter = keyof typeof filters;

/** Under which this browser keeps that a person has folded what is done. */
const FOLDED = 'done folded';

/** Address that holds filter and search, so that users can reload them, go back to them and share them. */
const address = (show: string, text: string) => {
  const query = new URLSearchParams({ ...(show === 'all' ? {} : { show }), ...(text ? { q: text } : {}) });
  return query.size > 0 ? `/todos?${query}` : '/todos';
};

export function List() {
  const { query } = useLocation();
  const { timesLoaded, todos } = useTodos();
  const load = useFreshLoad(loadTodos, isListTagged);
  const asked = query.get('show') ?? '';
  const show = Object.hasOwn(filters, asked) ? (asked as Filter) : 'all';
  const text = query.get('q') ?? '';
  const isEmpty = timesLoaded > 0 && todos.length === 0;
  return (
    <Page title={`${filters[show]} todos`} heading={`${filters[show]} todos`}>
      <AddField isFirst={isEmpty} onAdd={(entries) => add(entries, show, text)} />
      {load.problem && (
        <Failure what={`Your todos could not be ${timesLoaded > 0 ? 'brought up to date' : 'loaded'}.`} load={load} />
      )}
      {isEmpty ? (
        <p class="card">There are no todos yet.</p>
      ) : (
        <Todos
          // While the list can't be loaded, what this page knows is better than nothing.
          todos={timesLoaded > 0 || load.problem ? todos : []}
          timesLoaded={timesLoaded}
          show={show}
          text={text}
        />
      )}
      {timesLoaded === 0 && load.isLoading && !load.problem && <Loading />}
    </Page>
  );
}

/** Adds todos, and says so where the list does not show them. */
async function add(entries: Omit<Todo, 'id'>[], show: Filter, text: string) {
  const added = await addTodos(entries);
  const todos = entries.map((entry) => ({ id: 0, ...entry }));
  const listed = search(todos, text).filter(
    ({ isCompleted }) => show === 'all' || (show === 'done') === (isCompleted === 1),
  );
  if (added === 0 || listed.length === entries.length) return;
  notify({
    about: 'added',
    ...(added === 1 ? { subject: shortened(entries[0]!.description) } : {}),
    text: `${added === 1 ? 'is' : `${added} todos are`} saved, but not among those that are listed here.`,
  });
}

interface TodosProps {
  todos: Todo[];
  timesLoaded: number;
  show: Filter;
  text: string;
}

function Todos({ todos, timesLoaded, show, text }: TodosProps) {
  outbox.use();
  const [leftTodo] = useState(takeLeftTodo);
  const [wasFolded, setFolded] = useState(() => read<boolean>(FOLDED, 'localStorage') ?? false);
  const [selected, setSelected] = useState<ReadonlySet<number>>();
  const [looks, setLooks] = useState(0);
  const lookAgain = () => setLooks((times) => times + 1);
  // A toggled row keeps its place until the user opens, filters or searches the list again, or comes back to it.
  const looked = `${looks} ${show} ${text}`;
  const places = useRef({ looked, byId: new Map<number, Todo['isCompleted']>() });
  if (places.current.looked !== looked) places.current = { looked, byId: new Map() };
  const { byId: placed } = places.current;
  // One that has no id of the service yet has a negative one, by the time when it was written.
  const newestFirst = useMemo(() => [...todos].sort((a, b) => Math.abs(b.id) - Math.abs(a.id)), [todos]);
  const [open, closed] = useMemo(
    () => arranged(newestFirst, show, text, placed),
    [timesLoaded, todos.length, newestFirst[0]?.id, looked],
  );
  const canFold = show === 'all' && !text && closed.length > 0;
  const isFolded = canFold && wasFolded;
  const order = isFolded ? open : [...open, ...closed];
  const byId = useMemo(() => new Map(todos.map((todo) => [todo.id, todo])), [todos]);
  const done = useMemo(() => todos.filter(({ isCompleted }) => isCompleted).length, [todos]);
  const counts = { all: todos.length, open: todos.length - done, done };

  function change(changed: Todo[], isCompleted: Todo['isCompleted']) {
    for (const todo of changed) if (!placed.has(todo.id)) placed.set(todo.id, todo.isCompleted);
    tick(changed, isCompleted);
  }

  function stopSelecting() {
    setSelected(undefined);
    document.querySelector<HTMLElement>('.tools button')!.focus();
  }

  useListener('visibilitychange', () => document.hidden || lookAgain());

  const rows = (items: number[]) => (
    <VirtualList
      key={items === open}
      items={items}
      chosenBy={`${show} ${text}`}
      keyOf={firstIdOf}
      initialFocus={leftTodo}
    >
      {(id) => {
        const todo = byId.get(id) ?? byId.get(idOf(id));
        if (!todo) return null;
        return (
          <Row
            todo={todo}
            isWaiting={isWaiting(todo.id)}
            isSelected={selected?.has(id)}
            onChange={(isToExtend) => {
              if (selected) setSelected(withToggled(selected, id, order, isToExtend));
              else change([todo], todo.isCompleted ? 0 : 1);
            }}
            onLongPress={() => setSelected(new Set([id]))}
          />
        );
      }}
    </VirtualList>
  );

  useEffect(() => {
    if (location.hash === SEARCH_HASH) document.querySelector<HTMLElement>(SEARCH_HASH)!.focus();
  }, []);

  return (
    <>
      <div class="line tools">
        <nav class="line filters" aria-label="Filter">
          {Object.entries(filters).map(([name, label]) => (
            <a
              key={name}
              class="tab"
              href={address(name, text)}
              aria-current={name === show ? 'page' : undefined}
              onClick={lookAgain}
            >
              {label} <span class="small">{timesLoaded > 0 && formatCount(counts[name as Filter])}</span>
            </a>
          ))}
        </nav>
        <input
          id={SEARCH_HASH.slice(1)}
          type="search"
          aria-label="Search"
          placeholder="Search"
          dir="auto"
          value={text}
          onFocus={() => prepareSearch(todos)}
          onInput={({ currentTarget }) => route(address(show, currentTarget.value), true)}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            document.querySelector<HTMLElement>('.todos input')?.focus();
          }}
        />
        <button
          type="button"
          class="button quiet"
          aria-pressed={selected !== undefined}
          onClick={() => setSelected(selected ? undefined : new Set())}
        >
          Select
        </button>
      </div>
      {timesLoaded > 0 && (
        <p class="hidden" role="status">
          {order.length === 1 ? '1 todo is listed' : `${formatCount(order.length)} todos are listed`}
        </p>
      )}
      {selected && (
        <Selection
          selected={selected}
          order={order}
          onSelect={setSelected}
          onTick={(isCompleted) => {
            change(
              todos.filter(({ id }) => selected.has(id) || selected.has(firstIdOf(id))),
              isCompleted,
            );
            stopSelecting();
          }}
          onCancel={stopSelecting}
        />
      )}
      {open.length > 0 && rows(open)}
      {canFold && (
        <h2>
          <button
            type="button"
            class="fold"
            aria-expanded={!isFolded}
            onClick={() => {
              setFolded(!isFolded);
              write(FOLDED, !isFolded, 'localStorage');
            }}
          >
            <MoreIcon />
            Done ({formatCount(closed.length)})
          </button>
        </h2>
      )}
      {closed.length > 0 && !isFolded && rows(closed)}
      {timesLoaded > 0 && open.length + closed.length === 0 && <Nothing show={show} text={text} />}
    </>
  );
}

/**
 * The ids of the open and of the done todos that are to be shown, the newest of each first.
 * @param placed those that keep their place, with what decided it
 */
function arranged(todos: Todo[], show: Filter, text: string, placed: Map<number, Todo['isCompleted']>) {
  const found = search(todos, text);
  const ids = (filter: 'open' | 'done') =>
    found
      .filter(({ id, isCompleted }) => ((placed.get(id) ?? isCompleted) === 1) === (filter === 'done'))
      .map(({ id }) => id);
  return [show === 'done' ? [] : ids('open'), show === 'open' ? [] : ids('done')] as const;
}

function Nothing({ show, text }: Pick<TodosProps, 'show' | 'text'>) {
  const kind = show === 'all' ? '' : `${show} `;
  return (
    <div class="card line banner">
      {text ? (
        <p>
          No {kind}todo contains “<bdi>{text}</bdi>”.
        </p>
      ) : (
        <p>There are no {kind}todos.</p>
      )}
      <a
        class="button quiet"
        href={text ? address(show, '') : '/todos'}
        onClick={() => document.querySelector<HTMLElement>('[type=search]')!.focus()}
      >
        {text ? 'Clear the search' : 'Show all todos'}
      </a>
    </div>
  );
}
