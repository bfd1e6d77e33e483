import { useEffect } from 'preact/hooks';
import { route, useLocation } from '../data/router.ts';

/** The todo whose form was left last: its row takes the focus when the list is shown again. */
let leftForm: number | undefined;

export function takeLeftForm() {
  const id = leftForm;
  leftForm = undefined;
  return id;
}

/**
 * Makes a function that leaves a form: back to the page that it was opened from, as that was, or to another one.
 * @param origins paths of pages to go back to
 */
export function useWayBack(origins: RegExp, otherwise: string, id?: number) {
  const { wasPush, previous } = useLocation();
  useEffect(() => {
    // It survives a reload of the form.
    if (wasPush && origins.test(previous)) history.replaceState({ isOpenedHere: true }, '');
  }, []);
  return (to = otherwise) => {
    leftForm = id;
    const { isOpenedHere } = (history.state ?? {}) as { isOpenedHere?: boolean };
    if (isOpenedHere && to === otherwise) history.back();
    else route(to, true);
    // The router does so only where it adds to the history.
    scrollTo(0, 0);
  };
}
