import { PlusIcon } from '../components/icons.tsx';
import { Loaded, Page } from '../components/page.tsx';
import { formatCount } from '../data/format.ts';
import { listPollMs, loadTodos, useTodos } from '../data/todos.ts';
import { useLoad } from '../hooks/use-load.ts';

export function Home() {
  const { timesLoaded, todos } = useTodos();
  const load = useLoad(loadTodos, listPollMs);
  return (
    <Page heading="What’s left to do?">
      <Loaded what="Your todos" isThere={timesLoaded > 0} load={load} />
      {timesLoaded > 0 && <Counts todos={todos} />}
      <p class="line actions">
        <a class="button" href="/todos/new">
          <PlusIcon /> New todo
        </a>
        <a class="button quiet" href="/todos">
          See all todos
        </a>
      </p>
      <p class="small">Everybody who opens this page shares one list.</p>
    </Page>
  );
}

function Counts({ todos }: { todos: { isCompleted: 0 | 1 }[] }) {
  const done = todos.filter(({ isCompleted }) => isCompleted).length;
  if (todos.length === 0) return <p class="card">There are no todos yet. Write down the first one.</p>;
  return (
    <div class="line counts">
      <a class="card" href="/todos?show=open">
        <b>{formatCount(todos.length - done)}</b> open
      </a>
      <a class="card" href="/todos?show=done">
        <b>{formatCount(done)}</b> done
      </a>
      <progress aria-label="Done" value={done} max={todos.length} />
    </div>
  );
}
