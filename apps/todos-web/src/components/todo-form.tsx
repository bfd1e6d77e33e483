import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { asProblem, Conflict, DESCRIPTION_LIMIT, OfflineProblem, type Problem, type Todo } from '../data/api.ts';
import { shortened } from '../data/format.ts';
import { closeOfflineNotice, notify, useAnnouncement } from './notices.tsx';
import { useDraft } from '../hooks/use-draft.ts';
import { Versions } from './versions.tsx';

/** How few characters are left is said when these are reached. */
const NEARLY_FULL = [5, 10, 20];

/** A new todo is open; only an existing one can be marked as done. */
export type Values = Pick<Todo, 'description'> & Partial<Pick<Todo, 'isCompleted'>>;

interface TodoFormProps {
  initial: Values;
  /** Under which what is typed is kept. */
  draftKey: string;
  /** Whether the todo to edit has been deleted, so that a save creates a new one. */
  isGone?: boolean;
  /** Where to go without saving. */
  cancel: string;
  /**
   * @param requestKey the same as before for values that have been sent before
   * @throws Problem
   */
  onSave: (values: Values, requestKey: string) => Promise<unknown>;
  /** Leaves the page. Not called if the user has left it during the save. */
  onSaved: () => void;
}

export function TodoForm({ initial, draftKey, isGone, cancel, onSave, onSaved }: TodoFormProps) {
  const draft = useDraft(draftKey, initial);
  const about = `form ${draftKey}`;
  const { values, conflict } = draft;
  const { description, isCompleted } = values;
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [wasTried, setTried] = useState(false);
  // Null again when the page has been left.
  const field = useRef<HTMLTextAreaElement>(null);
  const versions = useRef<HTMLFieldSetElement>(null);
  /** Reports a save that waits for the network when the form is left. */
  const handOver = useRef<(() => void) | undefined>(undefined);
  useAnnouncement(isSaving ? 'Saving…' : undefined);

  const remaining = DESCRIPTION_LIMIT - Array.from(description).length;
  const error =
    mistake(description, remaining, wasTried) ?? (problem?.kind === 'refused' ? problem.message : undefined);
  const mustChoose = conflict !== undefined && conflict.isTheirs === undefined;

  async function save() {
    if (isSaving) return;
    setTried(true);
    clearProblem();
    if (mistake(description, remaining, true)) {
      field.current!.focus();
      return;
    }
    if (mustChoose) {
      focusVersions();
      return;
    }
    setSaving(true);
    const attempt = onSave.bind(undefined, values, draft.sending());
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
      const tell = () => reportFailure(about, description, reason, attempt, isKept ? draft : undefined);
      if (!field.current) {
        tell();
        return;
      }
      if (reason instanceof OfflineProblem) handOver.current = tell;
      setProblem(asProblem(reason));
      setSaving(false);
      setTried(false);
      if (reason instanceof Conflict) draft.conflictWith(formValues(reason.present.todo));
      else field.current.focus();
    }
  }

  function clearProblem() {
    handOver.current = undefined;
    setProblem(undefined);
  }

  function change(changes: Partial<Values>) {
    clearProblem();
    draft.change(changes);
  }

  const focusVersions = () => versions.current!.querySelector('input')!.focus();
  useLayoutEffect(() => {
    if (problem?.kind === 'changed') focusVersions();
  }, [problem]);

  const isOffline = problem instanceof OfflineProblem;
  const latestSave = useRef(save);
  latestSave.current = save;
  useEffect(() => {
    if (!isOffline) return;
    const again = () => {
      // Nothing waits once the user has cancelled, though the form is there for another moment.
      if (handOver.current) void latestSave.current();
    };
    addEventListener('online', again);
    return () => removeEventListener('online', again);
  }, [isOffline]);
  useEffect(() => {
    // The form that has been left waits again.
    if (closeOfflineNotice(about)) void save();
    return () => handOver.current?.();
  }, []);

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
            clearProblem();
            field.current!.focus();
          }}
        />
      )}
      {conflict && (
        <Versions
          {...conflict}
          fieldset={versions}
          isDisabled={isSaving}
          error={wasTried && mustChoose ? 'Choose one of them first.' : undefined}
          onChoose={(isTheirs) => {
            clearProblem();
            draft.choose(isTheirs);
          }}
        />
      )}
      {isGone ? (
        <Failed what="This todo is no longer there.">
          What you have typed is still here: you can save it as a new todo.
        </Failed>
      ) : (
        problem?.kind === 'failed' && (
          <Failed what="This could not be saved.">
            {problem.message} What you have typed is still here
            {isOffline && ', and is saved when you are back online'}.
          </Failed>
        )
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
        onInput={({ currentTarget }) => change({ description: currentTarget.value })}
        onKeyDown={(event) => {
          // As in a one-line field; with Shift it begins a new line, and while a word is being composed it is not ours.
          if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          void save();
        }}
      />
      <div class="last">
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
        <div class="actions">
          {isCompleted !== undefined && (
            <label class="check">
              <input
                type="checkbox"
                checked={isCompleted === 1}
                disabled={isSaving}
                onChange={({ currentTarget }) => change({ isCompleted: currentTarget.checked ? 1 : 0 })}
              />
              Done
            </label>
          )}
          <button class="button" aria-disabled={isSaving}>
            {isSaving ? 'Saving…' : isGone ? 'Save as new' : 'Save'}
          </button>
          <a
            class="button quiet"
            href={cancel}
            onClick={({ ctrlKey, metaKey, shiftKey }) => {
              // In another tab or window it leaves this form as it is.
              if (ctrlKey || metaKey || shiftKey) return;
              handOver.current = undefined;
              draft.forget();
            }}
          >
            Cancel
          </a>
        </div>
      </div>
    </form>
  );
}

const formValues = ({ description, isCompleted }: Todo): Values => ({ description, isCompleted });

function Failed({ what, children }: { what: string; children: ComponentChildren }) {
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{what}</strong> {children}
      </p>
    </div>
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
 * @param attempt saves it again
 * @param draft of the form, if it has kept what was typed
 */
function reportFailure(
  about: string,
  description: string,
  reason: unknown,
  attempt: () => Promise<unknown>,
  draft?: Pick<ReturnType<typeof useDraft>, 'sending' | 'saved' | 'failed'>,
) {
  const isOffline = reason instanceof OfflineProblem;
  const kept = isOffline ? ' It is saved when you are back online.' : draft ? ' The form has kept what you typed.' : '';
  function retry() {
    draft?.sending();
    attempt().then(
      () => {
        draft?.saved();
        notify(saved(about));
      },
      (again: unknown) => reportFailure(about, description, again, attempt, draft?.failed() ? draft : undefined),
    );
  }
  notify({
    kind: 'problem',
    about,
    // The only copy of a text is shown whole.
    subject: draft ? shortened(description) : description,
    text: `could not be saved. ${asProblem(reason).message}${kept}`,
    isOnlyCopy: !draft,
    isOffline,
    retry: !draft || isOffline ? retry : undefined,
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
