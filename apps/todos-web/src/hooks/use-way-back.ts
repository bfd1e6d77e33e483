import { useEffect } from 'preact/hooks';
import { route, useLocation } from '../data/router.ts';

/**
 * Makes a function that leaves a page: back to the one that it was opened from, as that was, or to another one.
 * @param origins paths of pages to go back to
 */
export function useWayBack(origins: RegExp, otherwise: string) {
  const { wasPush, previous } = useLocation();
  useEffect(() => {
    // It survives a reload of the page.
    if (wasPush && origins.test(previous)) history.replaceState({ isOpenedHere: true }, '');
  }, []);
  return (to = otherwise) => {
    const { isOpenedHere } = (history.state ?? {}) as { isOpenedHere?: boolean };
    if (isOpenedHere && to === otherwise) history.back();
    else route(to, true);
    // The router does so only where it adds to the history.
    scrollTo(0, 0);
  };
}
