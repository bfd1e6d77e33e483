import type { Todo } from '../data/api.ts';
import { formatCount } from '../data/format.ts';
import { useListener } from '../hooks/use-listener.ts';
import { CloseIcon } from './icons.tsx';

interface SelectionProps {
  selected: ReadonlySet<number>;
  /** Ids of the list as it is filtered. */
  order: number[];
  onSelect: (selected: ReadonlySet<number>) => void;
  onTick: (isCompleted: Todo['isCompleted']) => void;
  onCancel: () => void;
}

/** What can be done with the todos that are selected. */
export function Selection({ selected, order, onSelect, onTick, onCancel }: SelectionProps) {
  const listed = order.filter((id) => selected.has(id)).length;
  const unlisted = selected.size - listed;
  const isEmpty = selected.size === 0;

  useListener('keydown', ({ key, target }) => {
    const isForField = (target as Element).matches('#add, [type=search]');
    if (key === 'Escape' && !isForField && !document.querySelector('dialog')) onCancel();
  });

  /** Adds what is listed, or takes it out when all of it is selected. */
  function selectAll() {
    const all = new Set([...selected, ...order]);
    if (listed === order.length) order.forEach((id) => all.delete(id));
    onSelect(all);
  }

  const action = (name: string, label: string, isCompleted: Todo['isCompleted']) => (
    <button type="button" aria-label={name} aria-disabled={isEmpty} onClick={() => isEmpty || onTick(isCompleted)}>
      {label}
    </button>
  );
  return (
    <div class="line bar selection" role="group" aria-label="Selected todos">
      <p class="small" role="status">
        {formatCount(selected.size)} selected{unlisted > 0 && `, ${formatCount(unlisted)} not listed`}
      </p>
      <button type="button" onClick={selectAll}>
        All
      </button>
      {action('Mark as done', 'Done', 1)}
      {action('Open again', 'Open', 0)}
      <button type="button" class="bare" aria-label="Cancel" onClick={onCancel}>
        <CloseIcon />
      </button>
    </div>
  );
}

/** @param isToExtend whether all rows from the one that was selected last are selected too */
export function withToggled(selected: ReadonlySet<number>, id: number, order: number[], isToExtend: boolean) {
  const toggled = new Set(selected);
  const last = [...selected].at(-1);
  if (isToExtend && last !== undefined) {
    const [from, to] = [order.indexOf(last), order.indexOf(id)].sort((a, b) => a - b) as [number, number];
    order.slice(from, to + 1).forEach((between) => toggled.add(between));
  } else if (!toggled.delete(id)) toggled.add(id);
  return toggled;
}
