import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useAnnouncement } from './notices.tsx';
import type { Load } from '../hooks/use-load.ts';

/** The page that the visit began with leaves the focus where the browser has put it. */
let isFirstPage = true;

interface PageProps {
  /** The tab's title; without it, the name of the client alone. */
  title?: string;
  heading: ComponentChildren;
  children: ComponentChildren;
}

/** Layout of every page: a title, a heading, and a place for the focus when it opens. */
export function Page({ title, heading, children }: PageProps) {
  const h1 = useRef<HTMLHeadingElement>(null);

  useLayoutEffect(() => {
    document.title = title ? `${title} · Todos` : 'Todos';
  }, [title]);

  useEffect(() => {
    // A field or a row of the page may have taken it.
    const isTaken = document.activeElement!.closest('main') !== null;
    if (!isFirstPage && !isTaken) h1.current!.focus({ preventScroll: true });
    isFirstPage = false;
  }, []);

  return (
    <main id="content">
      <h1 ref={h1} tabIndex={-1} dir="auto">
        {heading}
      </h1>
      {children}
    </main>
  );
}

export function Loading() {
  useAnnouncement('Loading…');
  return <p class="loading">Loading…</p>;
}

interface LoadedProps {
  what: string;
  isThere: boolean;
  load: Load;
}

/** Says that `what` is coming, or why it is not there or not up to date. */
export function Loaded(props: LoadedProps) {
  const { isThere, load } = props;
  if (load.problem) return <Failure {...props} />;
  return !isThere && load.isLoading ? <Loading /> : null;
}

function Failure({ what, isThere, load: { isLoading, problem, retry } }: LoadedProps) {
  return (
    <div class="card line failure" role="alert">
      <p>
        <strong>
          {what} could not be {isThere ? 'brought up to date' : 'loaded'}.
        </strong>{' '}
        {problem!.message}
      </p>
      <button type="button" class="button quiet" onClick={retry}>
        {isLoading ? 'Trying…' : 'Try again'}
      </button>
    </div>
  );
}
