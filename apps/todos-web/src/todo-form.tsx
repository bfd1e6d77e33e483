import { useRef, useState } from 'preact/hooks';
import { DESCRIPTION_LIMIT, type Problem, type Todo } from './api.ts';
import { useDraft } from './use-draft.ts';

/** From here on a screen reader hears how many characters are left. */
const NEARLY_FULL = 20;

/** A new todo is open; only an existing one can be marked as done. */
type Values = Pick<Todo, 'description'> & Partial<Pick<Todo, 'isCompleted'>>;

interface TodoFormProps {
  initial: Values;
  /** Where to go without saving. */
  cancel: string;
  /** Saves and leaves the page. Throws a Problem otherwise. */
  onSave: (values: Values) => Promise<void>;
}

export function TodoForm({ initial, cancel, onSave }: TodoFormProps) {
  const draft = useDraft(initial);
  const { description, isCompleted } = draft.values;
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [isChecked, setChecked] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);

  const left = DESCRIPTION_LIMIT - Array.from(description).length;
  const error = mistake(description, left, isChecked) ?? (problem?.kind === 'refused' ? problem.message : undefined);

  async function save() {
    if (isSaving) return;
    setChecked(true);
    setProblem(undefined);
    if (mistake(description, left, true)) {
      field.current!.focus();
      return;
    }
    setSaving(true);
    try {
      await onSave(draft.values);
      draft.forget();
    } catch (reason) {
      setProblem(reason as Problem);
      setSaving(false);
      field.current!.focus();
    }
  }

  return (
    <form
      class="card"
      noValidate
      aria-busy={isSaving}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {draft.isRestored && (
        <p class="restored" role="status">
          What you typed here before has been kept.
          <button type="button" onClick={draft.discard}>
            Discard it
          </button>
        </p>
      )}
      <label for="description">Description</label>
      <textarea
        id="description"
        ref={field}
        dir="auto"
        rows={3}
        enterkeyhint="done"
        required
        aria-invalid={error !== undefined}
        aria-describedby="description-error description-count"
        value={description}
        onInput={({ currentTarget }) => {
          setProblem(undefined);
          draft.change({ description: currentTarget.value });
        }}
        onKeyDown={(event) => {
          // As in a one-line field; with Shift it begins a new line, and while a word is being composed it is not ours.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void save();
        }}
      />
      <div class="below">
        <p class="error" id="description-error" role="alert">
          {error}
        </p>
        <p class={left < 0 ? 'count over' : 'count'} id="description-count">
          {DESCRIPTION_LIMIT - left} of {DESCRIPTION_LIMIT} characters
        </p>
        <p class="hidden" role="status">
          {left >= 0 && left <= NEARLY_FULL && `${left} characters left`}
        </p>
      </div>
      {isCompleted !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={isCompleted === 1}
            onChange={({ currentTarget }) => draft.change({ isCompleted: currentTarget.checked ? 1 : 0 })}
          />
          Done
        </label>
      )}
      {problem?.kind === 'failed' || problem?.kind === 'missing' ? (
        <p class="failure" role="alert">
          <span>
            <strong>This could not be saved.</strong> {problem.message} What you have typed is still here.
          </span>
        </p>
      ) : null}
      <p class="actions">
        <button class="button" aria-disabled={isSaving}>
          {isSaving ? 'Saving…' : 'Save'}
        </button>
        <a class="button quiet" href={cancel} onClick={draft.forget}>
          Cancel
        </a>
      </p>
    </form>
  );
}

/** Too much is said while typing, too little not before saving. */
function mistake(description: string, left: number, isChecked: boolean) {
  if (left < 0) return `This is ${-left} ${left === -1 ? 'character' : 'characters'} too long.`;
  if (isChecked && description.trim() === '') return 'Write down what is to be done.';
  return undefined;
}
