import { useEffect, useMemo, useState } from 'preact/hooks';
import { AddField } from '../components/add-field.tsx';
import type { Todo } from '../data/api.ts';
import { addTodos, tick } from '../data/changes.ts';
import { formatCount, shortened } from '../data/format.ts';
import { notify } from '../components/notices.tsx';
import { MoreIcon } from '../components/icons.tsx';
import { Loaded, Page } from '../components/page.tsx';
import { Row } from '../components/row.tsx';
import { route, useLocation } from '../data/router.ts';
import { prepareSearch, search } from '../data/search.ts';
import { Selection, withToggled } from '../components/selection.tsx';
import { SEARCH_HASH } from '../components/shortcuts.tsx';
import { firstIdOf, idOf } from '../data/ids.ts';
import { outbox } from '../data/outbox.ts';
import { listPollMs, loadTodos, useTodos } from '../data/todos.ts';
import { useListener } from '../hooks/use-listener.ts';
import { useLoad } from '../hooks/use-load.ts';
import { read, write } from '../data/storage.ts';
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
  const load = useLoad(loadTodos, listPollMs);
  const show = (['open', 'done'] as const).find((name) => name === query.get('show')) ?? 'all';
  const text = query.get('q') ?? '';
  const isThere = timesLoaded > 0;
  const isEmpty = isThere && todos.length === 0;
  return (
    <Page title={`${filters[show]} todos`} heading={`${filters[show]} todos`}>
      <AddField isFirst={isEmpty} onAdd={(entries) => void add(entries, show, text)} />
      <Loaded what="Your todos" isThere={isThere} load={load} />
      {isEmpty && <p class="card">There are no todos yet.</p>}
      {/* While the list can't be loaded, what this page knows is better than nothing, after a while. */}
      {todos.length > 0 && <Todos key={`${isThere}`} show={show} text={text} />}
    </Page>
  );
}

/** Adds todos, and says so where the list does not show them. */
async function add(entries: Omit<Todo, 'id'>[], show: Filter, text: string) {
  const added = await addTodos(entries);
  const todos = entries.map((entry) => ({ id: 0, ...entry }));
  if (added === 0 || arranged(todos, show, text).flat().length === entries.length) return;
  notify({
    about: 'added',
    ...(added === 1 ? { subject: shortened(entries[0]!.description) } : {}),
    text: `${added === 1 ? 'is' : `${added} todos are`} saved, but not among those that are listed here.`,
  });
}

interface TodosProps {
  show: Filter;
  text: string;
}

function Todos({ show, text }: TodosProps) {
  const { shown, timesLoaded, todos } = useTodos();
  outbox.use();
  // Its row takes the focus.
  const { previous } = useLocation();
  const [leftTodo] = useState(() => parseInt(previous.replace(/\D+/, ''), 10));
  const [wasFolded, setFolded] = useState(() => read<boolean>(FOLDED, 'localStorage') ?? false);
  const [selected, setSelected] = useState<ReadonlySet<number>>();
  const [looks, setLooks] = useState(0);
  const lookAgain = () => setLooks((times) => times + 1);
  // A row that is toggled or edited keeps its place until the user opens, filters or searches the list again, or comes back to it.
  const placed = useMemo(() => new Map<number, Todo['isCompleted']>(), [looks, show, text]);
  // One that has no id of the service yet has a negative one, by the time when it was written.
  const newestFirst = useMemo(() => [...todos].sort((a, b) => Math.abs(b.id) - Math.abs(a.id)), [todos]);
  const [open, closed] = useMemo(
    () => arranged(newestFirst, show, text, placed),
    [timesLoaded, todos.length, newestFirst[0]?.id, placed],
  );
  const canFold = show === 'all' && !text && closed.length > 0;
  const isFolded = canFold && wasFolded;
  const order = (isFolded ? open : [...open, ...closed]).map(firstIdOf);
  const done = useMemo(() => todos.filter(({ isCompleted }) => isCompleted).length, [todos]);
  const counts = { all: todos.length, open: todos.length - done, done };

  const keepPlace = (todo: Todo) => void placed.set(todo.id, placed.get(todo.id) ?? todo.isCompleted);

  function change(changed: Todo[], isCompleted: Todo['isCompleted']) {
    changed.forEach(keepPlace);
    tick(changed, isCompleted);
  }

  function stopSelecting() {
    setSelected(undefined);
    document.querySelector<HTMLElement>('.tools button')!.focus();
  }

  useListener('visibilitychange', () => document.hidden || document.querySelector('.todos textarea') || lookAgain());

  const rows = (items: number[]) => (
    <VirtualList key={items === open} items={items} chosenBy={`${show} ${text}`} initialFocus={leftTodo}>
      {(id) => {
        const todo = shown.get(idOf(id));
        if (!todo) return null;
        return (
          <Row
            todo={todo}
            isSelected={selected?.has(firstIdOf(id))}
            onChange={(isToExtend) => {
              if (selected) setSelected(withToggled(selected, firstIdOf(id), order, isToExtend));
              else change([todo], todo.isCompleted ? 0 : 1);
            }}
            onLongPress={() => setSelected(new Set([firstIdOf(id)]))}
            onEdit={() => keepPlace(todo)}
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
              {label} {timesLoaded > 0 && <span class="small">{formatCount(counts[name as Filter])}</span>}
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
            const chosen = todos.filter(({ id }) => selected.has(firstIdOf(id)));
            change(chosen, isCompleted);
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
            class="line fold"
            aria-expanded={!isFolded}
            onClick={() => {
              setFolded(!isFolded);
              write(FOLDED, !isFolded, 'localStorage');
            }}
          >
            <MoreIcon /> Done ({formatCount(closed.length)})
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
function arranged(todos: Todo[], show: Filter, text: string, placed = new Map<number, Todo['isCompleted']>()) {
  const found = search(todos, text, placed);
  const ids = (isDone: 0 | 1) =>
    found.flatMap(({ id, isCompleted }) => ((placed.get(id) ?? isCompleted) === isDone ? id : []));
  return [show === 'done' ? [] : ids(0), show === 'open' ? [] : ids(1)] as const;
}

function Nothing({ show, text }: TodosProps) {
  const kind = show === 'all' ? '' : `${show} `;
  return (
    <div class="card line banner">
      <p>
        {text ? `No ${kind}todo contains ` : `There are no ${kind}todos`}
        {text && <bdi>“{text}”</bdi>}.
      </p>
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
