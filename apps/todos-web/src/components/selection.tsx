import type { Todo } from '../data/api.ts';
import { formatCount } from '../data/format.ts';

interface SelectionProps {
  count: number;
  /** How many of them are not in the list as it is filtered. */
  unlisted: number;
  onAll: () => void;
  onTick: (isCompleted: Todo['isCompleted']) => void;
  onCancel: () => void;
}

/** What can be done with the todos that are selected. */
export function Selection({ count, unlisted, onAll, onTick, onCancel }: SelectionProps) {
  return (
    <div class="selection" role="group" aria-label="Selected todos">
      <p role="status">
        {formatCount(count)} selected{unlisted > 0 && `, ${formatCount(unlisted)} of them not listed here`}
      </p>
      <button type="button" onClick={onAll}>
        All
      </button>
      <button type="button" aria-disabled={count === 0} onClick={() => count > 0 && onTick(1)}>
        Mark as done
      </button>
      <button type="button" aria-disabled={count === 0} onClick={() => count > 0 && onTick(0)}>
        Open again
      </button>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}
