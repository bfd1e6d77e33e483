import { createStore } from './store.ts';

// What the pages need of a router, in a quarter of the 2.2 kB of preact-iso's.

const here = () => location.pathname + location.search;
const pathOf = (url: string) => url.replace(/\/*(\?.*)?$/, '') || '/';

const place = createStore({
  url: here(),
  /** Whether it was added to the history, rather than found in it. */
  wasPush: false,
  /** Path of the page before. */
  previous: '',
});

function show(wasPush: boolean) {
  place.update({ url: here(), wasPush, previous: pathOf(place.get().url) });
}

/** Shows another page of the client. @param isInPlace whether it takes the place of this one in the history */
export function route(url: string, isInPlace = false) {
  if (isInPlace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  show(!isInPlace);
}

/** Whether a click on a link opens it elsewhere. */
const isForAnotherWindow = ({ altKey, button, ctrlKey, metaKey, shiftKey }: MouseEvent) =>
  altKey || ctrlKey || metaKey || shiftKey || button !== 0;

/** Does something else than open the link that is clicked; a double click does it once. */
export const instead = (act: () => void) => (event: MouseEvent) => {
  if (isForAnotherWindow(event)) return;
  event.preventDefault();
  if (event.detail < 2) act();
};

addEventListener('popstate', () => show(false));
addEventListener('click', (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href]');
  if (!link || event.defaultPrevented || isForAnotherWindow(event)) return;
  // Anything else, such as /docs, is the service's own and leaves the client.
  const isPage = link.origin === location.origin && /^\/(todos(\/|$)|$)/.test(link.pathname);
  if (!isPage || link.getAttribute('href')!.startsWith('#')) return;
  event.preventDefault();
  route(link.href);
});

export function useLocation() {
  const { url, wasPush, previous } = place.use();
  return { url, path: pathOf(url), query: new URLSearchParams(url.split('?')[1]), wasPush, previous };
}
