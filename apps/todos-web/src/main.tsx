import { render } from 'preact';
import { App } from './app.tsx';
import './style.css';

// Two slashes at the beginning would be read as a host name.
if (location.pathname.startsWith('//')) history.replaceState(null, '', '/');

const place = document.getElementById('app')!;
// What it said until now.
place.replaceChildren();
render(<App />, place);
