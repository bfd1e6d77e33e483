import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router';
import { connection } from './data/api.ts';
import { CheckIcon, PlusIcon } from './components/icons.tsx';
import { Notices } from './components/notices.tsx';
import { Details } from './pages/details.tsx';
import { Edit } from './pages/edit.tsx';
import { Home } from './pages/home.tsx';
import { List } from './pages/list.tsx';
import { New } from './pages/new.tsx';
import { NotFound } from './pages/not-found.tsx';
import { Shortcuts } from './components/shortcuts.tsx';
import { useOnline } from './hooks/use-online.ts';

/** Links to anything else, such as /docs, are the service's own and leave the client. */
const clientPaths = /^\/(todos([/?]|$)|$)/;

export function App() {
  return (
    <LocationProvider scope={clientPaths}>
      <Header />
      <Notices />
      <OfflineBanner />
      <Router>
        <Route path="/" component={Home} />
        <Route path="/todos" component={List} />
        <Route path="/todos/new" component={New} />
        <Route path="/todos/edit/:id" component={Edit} />
        <Route path="/todos/:id" component={Details} />
        <Route default component={NotFound} />
      </Router>
      <footer>
        <a href="/docs">The API of this service</a>
        <Shortcuts />
      </footer>
    </LocationProvider>
  );
}

function Header() {
  const { path } = useLocation();
  const current = (href: string) => (path === href ? 'page' : undefined);
  return (
    <header>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <nav aria-label="Main">
        <a class="brand" href="/" aria-current={current('/')}>
          <CheckIcon /> Todos
        </a>
        <a href="/todos" aria-current={current('/todos')}>
          All todos
        </a>
        <a class="button" href="/todos/new" aria-current={current('/todos/new')}>
          <PlusIcon /> New<span class="wide"> todo</span>
        </a>
      </nav>
    </header>
  );
}

function OfflineBanner() {
  const isOnline = useOnline();
  const { isKept } = connection.use();
  return (
    <div role="status">
      {!isOnline ? (
        <p class="banner">
          You are offline. What is shown may be out of date; what you save is sent when you are back online.
        </p>
      ) : (
        isKept && <p class="banner">The server cannot be reached. What is shown may be out of date.</p>
      )}
    </div>
  );
}
