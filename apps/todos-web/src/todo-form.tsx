import { useRef, useState } from 'preact/hooks';
import { asProblem, DESCRIPTION_LIMIT, type Problem, type Todo } from './api.ts';
import { notify, useAnnouncement } from './notices.tsx';
import { shortened } from './todos.ts';
import { useDraft } from './use-draft.ts';

/** How few characters are left is said when these are reached. */
const NEARLY_FULL = [5, 10, 20];

/** A new todo is open; only an existing one can be marked as done. */
type Values = Pick<Todo, 'description'> & Partial<Pick<Todo, 'isCompleted'>>;

interface TodoFormProps {
  initial: Values;
  /** Under which what is typed is kept. */
  draftKey: string;
  /** Where to go without saving. */
  cancel: string;
  /**
   * @param changes what is not as it was at first
   * @throws Problem
   */
  onSave: (values: Values, changes: Partial<Values>) => Promise<void>;
  /** Leaves the page. Not called if the user has left it during the save. */
  onSaved: () => void;
}

export function TodoForm({ initial, draftKey, cancel, onSave, onSaved }: TodoFormProps) {
  const draft = useDraft(draftKey, initial);
  const about = `form ${draftKey}`;
  const { description, isCompleted } = draft.values;
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [wasTried, setTried] = useState(false);
  // Null again when the page has been left.
  const field = useRef<HTMLTextAreaElement>(null);
  useAnnouncement(isSaving ? 'Saving…' : undefined);

  const remaining = DESCRIPTION_LIMIT - Array.from(description).length;
  const error =
    mistake(description, remaining, wasTried) ?? (problem?.kind === 'refused' ? problem.message : undefined);

  async function save() {
    if (isSaving) return;
    setTried(true);
    setProblem(undefined);
    if (mistake(description, remaining, true)) {
      field.current!.focus();
      return;
    }
    setSaving(true);
    draft.sending();
    const attempt = () => onSave(draft.values, draft.changes);
    try {
      await attempt();
      draft.saved();
      notify(saved(about));
      if (!field.current) return;
      onSaved();
      // The router does so only where it adds to the history.
      scrollTo(0, 0);
    } catch (reason) {
      const isKept = draft.failed();
      if (!field.current) {
        reportFailure(about, description, reason, isKept ? undefined : attempt);
        return;
      }
      setProblem(asProblem(reason));
      setSaving(false);
      field.current.focus();
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
      {draft.restored && (
        <Restored
          words={RESTORED[draft.restored]}
          onDiscard={() => {
            draft.discard();
            setTried(false);
            setProblem(undefined);
            field.current!.focus();
          }}
        />
      )}
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
        value={description}
        onInput={({ currentTarget }) => {
          setProblem(undefined);
          draft.change({ description: currentTarget.value });
        }}
        onKeyDown={(event) => {
          // As in a one-line field; with Shift it begins a new line, and while a word is being composed it is not ours.
          if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          void save();
        }}
      />
      <div class="below">
        <p class="error" id="description-error" role="alert">
          {error}
        </p>
        <p class={remaining < 0 ? 'count over' : 'count'} id="description-count">
          {DESCRIPTION_LIMIT - remaining} of {DESCRIPTION_LIMIT} characters
        </p>
        <p class="hidden" role="status">
          {remaining >= 0 && nearlyFull(remaining)}
        </p>
      </div>
      {isCompleted !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={isCompleted === 1}
            disabled={isSaving}
            onChange={({ currentTarget }) => draft.change({ isCompleted: currentTarget.checked ? 1 : 0 })}
          />
          Done
        </label>
      )}
      {problem && problem.kind !== 'refused' && (
        <div class="failure" role="alert">
          <p>
            <strong>This could not be saved.</strong> {problem.message} What you have typed is still here.
          </p>
        </div>
      )}
      <p class="actions">
        <button class="button" aria-disabled={isSaving}>
          {isSaving ? 'Saving…' : 'Save'}
        </button>
        <a
          class="button quiet"
          href={cancel}
          onClick={({ ctrlKey, metaKey, shiftKey }) => {
            // In another tab or window it leaves this form as it is.
            if (!ctrlKey && !metaKey && !shiftKey) draft.forget();
          }}
        >
          Cancel
        </a>
      </p>
    </form>
  );
}

const RESTORED = {
  kept: 'What you typed here before has been kept.',
  sent: 'What you typed here before has been kept; it may have been saved already.',
};

function Restored({ words, onDiscard }: { words: string; onDiscard: () => void }) {
  useAnnouncement(words);
  return (
    <div class="restored">
      <p>{words}</p>
      <button type="button" onClick={onDiscard}>
        Discard it
      </button>
    </div>
  );
}

const saved = (about: string) => ({ kind: 'saved', about, text: 'Saved.' }) as const;

/**
 * Tells of a form that has been left.
 * @param attempt saves it again, if the form has not kept it
 */
function reportFailure(about: string, description: string, reason: unknown, attempt?: () => Promise<void>) {
  const { message } = asProblem(reason);
  notify({
    kind: 'problem',
    about,
    subject: shortened(description),
    text: `could not be saved. ${message}${attempt ? '' : ' The form has kept what you typed.'}`,
    isOnlyCopy: attempt !== undefined,
    retry:
      attempt &&
      (() => {
        attempt().then(
          () => notify(saved(about)),
          (again: unknown) => reportFailure(about, description, again, attempt),
        );
      }),
  });
}

/** A text that is too long is told while it is typed, one that is empty only when saving it has been tried. */
function mistake(description: string, remaining: number, wasTried: boolean) {
  if (remaining < 0) return `This is too long: ${DESCRIPTION_LIMIT} characters fit.`;
  if (wasTried && description.trim() === '') return 'Write down what is to be done.';
  return undefined;
}

function nearlyFull(remaining: number) {
  const few = NEARLY_FULL.find((limit) => remaining <= limit);
  return few && `No more than ${few} characters are left`;
}

/** Safari ends the composition first, and marks the key that did it in a way that no other browser needs any more. */
const isComposing = (event: KeyboardEvent) => event.isComposing || Reflect.get(event, 'keyCode') === 229;
