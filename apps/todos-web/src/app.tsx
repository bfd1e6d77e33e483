import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from './data/router.ts';
import { CheckIcon, PlusIcon } from './components/icons.tsx';
import { Notices } from './components/notices.tsx';
import { Shortcuts } from './components/shortcuts.tsx';
import { Unsent } from './components/unsent.tsx';
import { Details } from './pages/details.tsx';
import { Edit } from './pages/edit.tsx';
import { Home } from './pages/home.tsx';
import { List } from './pages/list.tsx';
import { New } from './pages/new.tsx';
import { NotFound } from './pages/not-found.tsx';

const pages = [
  [/^\/$/, Home],
  [/^\/todos$/, List],
  [/^\/todos\/new$/, New],
  [/^\/todos\/edit\/([^/]+)$/, Edit],
  [/^\/todos\/([^/]+)$/, Details],
] as const;

export function App() {
  return (
    <>
      <Header />
      <Unsent />
      <CurrentPage />
      <Notices />
      <footer class="line small">
        <a href="/docs">The API of this service</a>
        <Shortcuts />
      </footer>
    </>
  );
}

function CurrentPage() {
  const { path, wasPush } = useLocation();
  useLayoutEffect(() => {
    if (wasPush) scrollTo(0, 0);
  }, [path]);
  for (const [pattern, Page] of pages) {
    const match = pattern.exec(path);
    if (match) return <Page key={path} id={match[1] ?? ''} />;
  }
  return <NotFound />;
}

function Header() {
  const { path } = useLocation();
  const current = (href: string) => (path === href ? 'page' : undefined);
  return (
    <header>
      <a class="skip button" href="#content">
        Skip to the content
      </a>
      <nav class="line" aria-label="Main">
        <a class="tab brand" href="/" aria-current={current('/')}>
          <CheckIcon /> Todos
        </a>
        <a class="tab" href="/todos" aria-current={current('/todos')}>
          All todos
        </a>
        <a class="button" href="/todos/new" aria-current={current('/todos/new')}>
          <PlusIcon /> New<span class="wide"> todo</span>
        </a>
      </nav>
    </header>
  );
}
