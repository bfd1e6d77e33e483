import type { Todo } from '../data/api.ts';
import { ClockIcon, PencilIcon } from './icons.tsx';
import { SEARCH_HASH } from './shortcuts.tsx';

/** Where the focus goes with an arrow key: to the same control of another row. */
const STEPS = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' } as const;

function moveInList(event: KeyboardEvent) {
  const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
  const control = target as HTMLElement;
  if (altKey || ctrlKey || metaKey || shiftKey) return;
  const row = control.closest('li')!;
  if (key === ' ' && control.matches('a')) {
    event.preventDefault();
    row.querySelector('input')!.click();
  } else if (key === 'ArrowDown' || key === 'ArrowUp') {
    event.preventDefault();
    const controls = (of: Element) => [...of.querySelectorAll<HTMLElement>('input, a[href]')];
    const next = row[STEPS[key]];
    if (next) (controls(next)[controls(row).indexOf(control)] ?? controls(next)[0]!).focus();
    else if (key === 'ArrowUp') document.querySelector<HTMLElement>(SEARCH_HASH)!.focus();
  }
}

interface RowProps {
  todo: Todo;
  /** Whether it is among the todos to do something with, while these are selected. */
  isSelected?: boolean | undefined;
  /** Whether the service has not confirmed all of it. */
  isWaiting: boolean;
  onChange: (isToExtend: boolean) => void;
}

export function Row({ todo: { id, description, isCompleted }, isSelected, isWaiting, onChange }: RowProps) {
  const isSelecting = isSelected !== undefined;
  // One that has not been sent has no page yet.
  const isNew = id < 0;
  return (
    <div class={isCompleted ? 'row done' : 'row'} onKeyDown={moveInList}>
      <label>
        <input
          type="checkbox"
          aria-label={`${isSelecting ? 'Select' : 'Done'}: ${description}`}
          checked={isSelecting ? isSelected : isCompleted === 1}
          onClick={({ shiftKey }) => onChange(shiftKey)}
        />
      </label>
      <a {...(!isNew && { href: `/todos/${id}` })} dir="auto">
        <span translate={false}>{description}</span>
      </a>
      {isWaiting && (
        <span class="waiting small">
          <ClockIcon />
          <span class="wide">Not sent yet</span>
        </span>
      )}
      {!isNew && (
        <a class="edit" href={`/todos/edit/${id}`} aria-label={`Edit: ${description}`}>
          <PencilIcon />
        </a>
      )}
    </div>
  );
}
