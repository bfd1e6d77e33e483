import { useEffect, useRef, useState } from 'preact/hooks';
import type { Todo } from '../data/api.ts';
import { saveTyped } from '../data/changes.ts';
import { remainingOf, TOO_LONG } from '../data/description.ts';
import { isSame } from '../data/merge.ts';
import { changesOf, isWaiting } from '../data/outbox.ts';
import { route } from '../data/router.ts';
import { useDraft } from '../hooks/use-draft.ts';
import { endingKeys } from './ending-keys.ts';
import { ClockIcon, MoreIcon } from './icons.tsx';
import { Linked } from './linked.tsx';
import { notify } from './notices.tsx';
import { SEARCH_HASH } from './shortcuts.tsx';

/** Time for which a finger rests on a row that it selects. */
const LONG_PRESS_MS = 500;

/** Timer of a finger that rests, negative when that was long enough. The click that ends it may meet another row. */
let press = 0;
const release = () => clearTimeout(press);

/** Moves the focus with an arrow key to the same control of another row. */
function moveInList(control: HTMLElement, step: number) {
  const rows = [...document.querySelectorAll('.todos li')];
  const at = rows.findIndex((row) => row.contains(control));
  const next = rows[at + step];
  const controls = (of: Element) => [...of.querySelectorAll<HTMLElement>('input, .more')];
  if (next) (controls(next)[controls(rows[at]!).indexOf(control)] ?? controls(next)[0]!).focus();
  else if (step < 0) document.querySelector<HTMLElement>(SEARCH_HASH)!.focus();
}

interface RowProps {
  todo: Todo;
  /** Whether it is among the todos to do something with, while these are selected. */
  isSelected?: boolean | undefined;
  onChange: (isToExtend: boolean) => void;
  /** A finger has rested on it. */
  onLongPress: () => void;
  /** It is edited, and must stay where it is. */
  onEdit: () => void;
}

export function Row({ todo, isSelected, onChange, onLongPress, onEdit }: RowProps) {
  const { id, description, isCompleted } = todo;
  const [isEditing, setEditing] = useState(false);
  const row = useRef<HTMLDivElement>(null);
  const isSelecting = isSelected !== undefined;
  // One that has not been sent has no page yet.
  const isNew = id < 0;
  if (isEditing) onEdit();

  function click(event: MouseEvent) {
    const target = event.target as Element;
    if (press < 0) press = 0;
    else if (target.closest('label, .more, textarea')) return;
    else if (isSelecting) onChange(event.shiftKey);
    else {
      // A text that has been selected is to be copied, and a link to be followed.
      if (!isNew && !target.closest('a') && getSelection()!.isCollapsed) setEditing(true);
      return;
    }
    event.preventDefault();
  }

  function type(event: KeyboardEvent) {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    const control = event.target as HTMLElement;
    if (altKey || ctrlKey || metaKey || shiftKey || control.matches('textarea')) return;
    if (key === ' ' && control.matches('a')) row.current!.querySelector('input')!.click();
    else if (key === 'ArrowDown' || key === 'ArrowUp') moveInList(control, key === 'ArrowDown' ? 1 : -1);
    else if (key === 'F2' && !isNew) setEditing(true);
    else return;
    event.preventDefault();
  }

  return (
    <div
      ref={row}
      class={`row${isCompleted ? ' done' : ''}${isSelected ? ' selected' : ''}`}
      onKeyDown={type}
      onClick={click}
      onPointerDown={({ pointerType }) => {
        press = 0;
        if (pointerType !== 'touch' || isSelecting) return;
        press = window.setTimeout(() => {
          press = -1;
          onLongPress();
        }, LONG_PRESS_MS);
      }}
      onPointerUp={release}
      onPointerCancel={release}
    >
      <label>
        <input
          type="checkbox"
          class={isSelecting ? 'pick' : undefined}
          aria-label={isSelecting ? `Select: ${description}${isCompleted ? ', done' : ''}` : `Done: ${description}`}
          checked={isSelecting ? isSelected : isCompleted === 1}
          onClick={({ shiftKey }) => onChange(shiftKey)}
        />
      </label>
      {isEditing ? (
        <TextField
          todo={todo}
          onClose={(isByKey) => {
            setEditing(false);
            if (isByKey) row.current!.querySelector('input')!.focus();
          }}
        />
      ) : (
        <div class="text" dir="auto">
          <Linked text={description} />
        </div>
      )}
      {isWaiting(id) && (
        <span class="line waiting small">
          <ClockIcon />
          <span class="wide">Not sent yet</span>
        </span>
      )}
      {!isNew && !isSelecting && (
        <a class="more" href={`/todos/${id}`} aria-label={`Details: ${description}`}>
          <MoreIcon />
        </a>
      )}
    </div>
  );
}

/** Edits a text where it stands: Enter saves it, Escape keeps what was typed for the next time. */
function TextField({ todo, onClose }: { todo: Todo; onClose: (isByKey: boolean) => void }) {
  const { base, theirs, values, change, forget } = useDraft(`${todo.id}`, todo);
  const { description } = values;
  const field = useRef<HTMLTextAreaElement>(null);
  const stuck = () => changesOf(todo.id).find(({ state }) => state === 'stuck');
  const isOver = useRef(theirs !== undefined || stuck() !== undefined);
  const isTooLong = remainingOf(description) < 0;
  useEffect(() => {
    // Another person has written, too, since this was typed, or an earlier text is not saved: the form shows both.
    if (isOver.current) route(`/todos/edit/${todo.id}`);
    else field.current!.focus();
  }, []);

  function close(isByKey: boolean, isToSave = true) {
    if (isOver.current) return;
    if (isToSave && isTooLong) notify({ about: `todo ${todo.id}`, item: todo.id, text: TOO_LONG });
    if (isToSave && isTooLong && isByKey) return;
    isOver.current = true;
    onClose(isByKey);
    if (!isToSave || isTooLong) return;
    forget();
    if (!description.trim() || isSame(values, base)) return;
    saveTyped(base, values, stuck()?.key, true);
  }

  return (
    <textarea
      ref={field}
      aria-label="Description"
      aria-invalid={isTooLong}
      dir="auto"
      enterkeyhint="done"
      value={description}
      onInput={({ currentTarget: { value } }) => change({ description: value })}
      onBlur={() => document.hasFocus() && close(false)}
      onKeyDown={endingKeys((isToSave) => close(true, isToSave))}
    />
  );
}
