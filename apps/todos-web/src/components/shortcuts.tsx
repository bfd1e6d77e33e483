import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { undo } from '../data/changes.ts';
import { route } from '../data/router.ts';
import { read, write } from '../data/storage.ts';
import { useListener } from '../hooks/use-listener.ts';

/** Part of an address that puts the focus into the search field of the list. */
export const SEARCH_HASH = '#search';

const KEYS = [
  ['n', 'a new todo'],
  ['/', 'search'],
  ['?', 'this list'],
  ['Arrows', 'another todo'],
  ['Space', 'tick the todo, or not'],
  ['F2', 'edit the todo'],
  ['Ctrl Z', 'undo the last change'],
  ['Shift Space', 'select up to here'],
  ['Esc', 'leave a field, a selection, a message'],
];

/** Under which this browser keeps that a person has turned the single letters off. */
const OFF = 'shortcuts off';

function go(selector: string, address: string) {
  const field = document.querySelector<HTMLElement>(selector);
  if (field) field.focus();
  else route(address);
}

/** Keys for frequent actions, and the button that lists them. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const [isOn, setOn] = useState(() => !read(OFF, 'localStorage'));

  const actions: Record<string, () => void> = {
    n: () => go('#add', '/todos/new'),
    '/': () => go(SEARCH_HASH, `/todos${SEARCH_HASH}`),
    '?': () => setOpen(true),
  };
  useListener('keydown', (event) => {
    const { key, altKey, ctrlKey, metaKey, isComposing } = event;
    const isTyped = (event.target as Element).matches('textarea, input:not([type=checkbox])');
    if (isTyped || isComposing || altKey || document.querySelector('dialog')) return;
    // In a form, it undoes what is typed.
    const isUndo = (ctrlKey || metaKey) && key === 'z' && !document.querySelector('form.card');
    const act = isUndo ? undo : ctrlKey || metaKey || !isOn ? undefined : actions[key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  return (
    <>
      <button type="button" class="keys bare" onClick={() => setOpen(true)}>
        Keyboard shortcuts
      </button>
      {isOpen && (
        <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
          <table>
            {KEYS.map(([keys, action]) => (
              <tr key={keys}>
                <th>{keys}</th>
                <td>{action}</td>
              </tr>
            ))}
          </table>
          <p>
            <label class="check">
              <input
                type="checkbox"
                checked={isOn}
                onChange={({ currentTarget: { checked } }) => {
                  setOn(checked);
                  write(OFF, !checked, 'localStorage');
                }}
              />
              Use n, / and ?
            </label>
          </p>
          <p class="line actions">
            <button class="button">Close</button>
          </p>
        </Dialog>
      )}
    </>
  );
}
