import { render } from 'preact';
import { App } from './app.tsx';
import { registerServiceWorker } from './service-worker.ts';
import './style.css';

// Two slashes at the beginning would be read as a host name.
if (location.pathname.startsWith('//')) history.replaceState(null, '', '/');
// The router would fail at a percent sign that encodes nothing, and show no page at all.
try {
  decodeURIComponent(location.pathname);
} catch {
  history.replaceState(null, '', location.pathname.replaceAll('%', '%25') + location.search);
}

const place = document.getElementById('app')!;
// What it said until now.
place.replaceChildren();
render(<App />, place);

// After the page's own requests.
if (import.meta.env.PROD) addEventListener('load', registerServiceWorker);
