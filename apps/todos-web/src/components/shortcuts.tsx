import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { undo } from '../data/changes.ts';
import { route } from '../data/router.ts';

/** Part of an address that puts the focus into the search field of the list. */
export const SEARCH_HASH = '#search';

const KEYS = [
  ['n', 'a new todo'],
  ['/', 'search'],
  ['?', 'this list'],
  ['Arrows', 'the next todo, or the one before'],
  ['Space', 'tick the todo, or take its tick away'],
  ['Ctrl Z', 'undo the last change'],
  ['Shift Space', 'while selecting: everything from the last one'],
  ['Esc', 'leave the form or the selection; close a message'],
];

const SWITCH = 'shortcuts';

/** Keys for frequent actions, and the button that lists them. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  const [isOn, setOn] = useState(readSwitch);

  useEffect(() => {
    const go = (selector: string, address: string) => {
      const field = document.querySelector<HTMLElement>(selector);
      if (field) field.focus();
      else route(address);
    };
    const actions = new Map([
      ['n', () => go('#add', '/todos/new')],
      ['/', () => go(SEARCH_HASH, `/todos${SEARCH_HASH}`)],
      ['?', () => setOpen(true)],
    ]);
    const press = (event: KeyboardEvent) => {
      const { key, altKey, ctrlKey, metaKey, isComposing } = event;
      const isTyped = (event.target as Element).matches('textarea, input:not([type=checkbox])');
      if (isTyped || isComposing || altKey || document.querySelector('dialog')) return;
      // In a form, it undoes what is typed.
      const isUndo = (ctrlKey || metaKey) && key === 'z' && !document.querySelector('form.card');
      const act = isUndo ? undo : ctrlKey || metaKey || !isOn ? undefined : actions.get(key);
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [isOn]);

  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Keyboard shortcuts
      </button>
      {isOpen && (
        <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
          <dl>
            {KEYS.map(([keys, action]) => (
              <div key={keys}>
                <dt>
                  <kbd>{keys}</kbd>
                </dt>
                <dd>{action}</dd>
              </div>
            ))}
          </dl>
          <p>
            <label class="check">
              <input
                type="checkbox"
                checked={isOn}
                onChange={({ currentTarget: { checked } }) => {
                  setOn(checked);
                  writeSwitch(checked);
                }}
              />
              Use n, / and ?
            </label>
          </p>
          <p class="actions">
            <button class="button">Close</button>
          </p>
        </Dialog>
      )}
    </>
  );
}

// A browser that is told to store nothing throws at every use of the storage.

function readSwitch() {
  try {
    return localStorage.getItem(SWITCH) !== 'off';
  } catch {
    return true;
  }
}

function writeSwitch(isOn: boolean) {
  try {
    localStorage.setItem(SWITCH, isOn ? 'on' : 'off');
  } catch {
    return;
  }
}
