import { render } from 'preact';
import './translation.ts';
import { App } from './app.tsx';
import { registerServiceWorker } from './service-worker.ts';
import './style/index.css';

const place = document.getElementById('app')!;
// What it said until now.
place.replaceChildren();
render(<App />, place);

let focused: Element | null = null;
addEventListener('focusin', ({ target }) => (focused = target as Element));
// What goes with the focus leaves it to its row, which may have moved to another list, or to the heading.
new MutationObserver(() => {
  if (!focused || focused.isConnected || document.activeElement !== document.body) return;
  const item = focused.closest<HTMLElement>('li')?.dataset.item;
  const next = document.querySelector<HTMLElement>(`.todos [data-item="${item}"] input`);
  (next ?? document.querySelector('h1'))?.focus({ preventScroll: true });
}).observe(place, { childList: true, subtree: true });

// After the page's own requests.
if (import.meta.env.PROD) addEventListener('load', registerServiceWorker);
