import { useEffect, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../data/api.ts';
import { useListener } from './use-listener.ts';

/** Delay between looks at what others have written, while the tab is visible. */
const POLL_MS = 15_000;

/** Delay for a list that has no tag: of more than 50,000 todos, which come whole each time. */
const UNTAGGED_POLL_MS = 300_000;

/** How a page's data are: still coming, there, or not to be had. */
export interface Load {
  isLoading: boolean;
  problem?: Problem | undefined;
  retry: () => void;
}

/** Runs `load` when the page opens, on `retry`, and when the browser is back online after it failed. */
export function useLoad(load: () => Promise<unknown>): Load {
  const [{ isLoading, problem }, setState] = useState<Omit<Load, 'retry'>>({ isLoading: true });
  const [attempt, setAttempt] = useState(1);
  const retry = () => setAttempt((last) => last + 1);

  useEffect(() => {
    let isCurrent = true;
    setState((state) => ({ ...state, isLoading: true }));
    void load()
      .then(() => undefined, asProblem)
      .then((problem) => {
        if (isCurrent) setState({ isLoading: false, problem });
      });
    return () => {
      isCurrent = false;
    };
  }, [attempt]);

  useListener('online', () => {
    if (problem) retry();
  });
  return { isLoading, problem, retry };
}

/**
 * Loads like `useLoad`, and again four times a minute, and each time that the tab is shown again or back online, because other
 * clients write too. Not for a form, because a reload would redraw it while the user fills it in.
 */
export function useFreshLoad(load: () => Promise<unknown>, isTagged = () => true): Load {
  const result = useLoad(load);
  const { isLoading, retry } = result;
  const look = () => {
    if (!document.hidden) retry();
  };
  useEffect(() => {
    const poll = () => {
      if (!isLoading && navigator.onLine) look();
    };
    const timer = setInterval(poll, isTagged() ? POLL_MS : UNTAGGED_POLL_MS);
    return () => clearInterval(timer);
  }, [isLoading]);
  useListener('visibilitychange', look);
  // What a service worker has kept may have been shown instead.
  useListener('online', look);
  return result;
}
