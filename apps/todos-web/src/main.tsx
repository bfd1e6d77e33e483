import { render } from 'preact';
import './translation.ts';
import { App } from './app.tsx';
import { registerServiceWorker } from './service-worker.ts';
import './style/index.css';

const place = document.getElementById('app')!;
// What it said until now.
place.replaceChildren();
render(<App />, place);

// After the page's own requests.
if (import.meta.env.PROD) addEventListener('load', registerServiceWorker);
