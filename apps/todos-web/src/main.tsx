import { render } from 'preact';
import { App } from './app.tsx';
import './style.css';

// Two slashes at the beginning would be read as a host name.
if (location.pathname.startsWith('//')) history.replaceState(null, '', '/');

render(<App />, document.getElementById('app')!);
