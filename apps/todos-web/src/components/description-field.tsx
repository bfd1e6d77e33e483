import type { ComponentChildren, RefObject } from 'preact';
import { DESCRIPTION_LIMIT, remainingOf } from '../data/description.ts';

/** How few characters are left is said when these are reached. */
const NEARLY_FULL = [5, 10, 20];

interface DescriptionFieldProps {
  field: RefObject<HTMLTextAreaElement | null>;
  value: string;
  error: string | undefined;
  isSaving: boolean;
  onType: (description: string) => void;
  onEnter: () => void;
  /** Stays in sight below the field, beside what is wrong. */
  children: ComponentChildren;
}

/** A field for a description of any length, that says how much of it fits. */
export function DescriptionField(props: DescriptionFieldProps) {
  const { field, value, error, isSaving, onType, onEnter, children } = props;
  const remaining = remainingOf(value);
  return (
    <>
      <label for="description">Description</label>
      <textarea
        id="description"
        ref={field}
        dir="auto"
        rows={3}
        enterkeyhint="done"
        required
        readOnly={isSaving}
        aria-invalid={error !== undefined}
        aria-describedby="description-error description-count"
        value={value}
        onInput={({ currentTarget }) => onType(currentTarget.value)}
        onKeyDown={(event) => {
          // As in a one-line field; with Shift it begins a new line, and while a word is being composed it is not ours.
          if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          onEnter();
        }}
      />
      <div class="last">
        <div class="line below">
          <p class="error" id="description-error" role="alert">
            {error}
          </p>
          <p class={remaining < 0 ? 'count error' : 'small count'} id="description-count">
            {DESCRIPTION_LIMIT - remaining} of {DESCRIPTION_LIMIT} characters
          </p>
          <p class="hidden" role="status">
            {remaining >= 0 && nearlyFull(remaining)}
          </p>
        </div>
        {children}
      </div>
    </>
  );
}

function nearlyFull(remaining: number) {
  const few = NEARLY_FULL.find((limit) => remaining <= limit);
  return few && `No more than ${few} characters are left`;
}

/** Safari ends the composition first, and marks the key that did it in a way that no other browser needs any more. */
export const isComposing = (event: KeyboardEvent) => event.isComposing || Reflect.get(event, 'keyCode') === 229;
