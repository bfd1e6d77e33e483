import { useEffect, useState } from 'preact/hooks';
import { asProblem, connection, type Problem } from '../data/api.ts';
import { useListener } from './use-listener.ts';

/** How a page's data are: still coming, there, or not to be had. */
export interface Load {
  isLoading: boolean;
  problem?: Problem | undefined;
  retry: () => void;
}

/**
 * Runs `load` when the page opens, on `retry`, and when the tab is shown again or back online after it failed.
 * @param pollMs delay between looks at what others have written, while the tab is visible; they look also when it is shown again or back
 *   online. A form has none, because a reload would redraw it while the user fills it in.
 */
export function useLoad(load: () => Promise<unknown>, pollMs?: () => number): Load {
  const [{ isLoading, problem }, setState] = useState<Omit<Load, 'retry'>>({ isLoading: true });
  const [attempt, setAttempt] = useState(1);
  const retry = () => setAttempt((last) => last + 1);
  const look = () => {
    if (!document.hidden && (pollMs || problem)) retry();
  };

  useEffect(() => {
    let isCurrent = true;
    setState((state) => ({ ...state, isLoading: true }));
    void load()
      .then(() => undefined, asProblem)
      .then((problem) => {
        if (isCurrent) setState({ isLoading: false, problem });
      });
    return () => void (isCurrent = false);
  }, [attempt]);

  useEffect(() => {
    if (isLoading || !pollMs) return;
    const timer = setInterval(() => connection.get().isOnline && look(), pollMs());
    return () => clearInterval(timer);
  }, [isLoading]);
  useListener('visibilitychange', look);
  // What a service worker has kept may have been shown instead.
  useListener('online', look);
  return { isLoading, problem, retry };
}
