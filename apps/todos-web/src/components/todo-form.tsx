import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { DESCRIPTION_LIMIT, type Todo } from '../data/api.ts';
import { saveTyped } from '../data/changes.ts';
import { changeOf, update, type Change } from '../data/outbox.ts';
import { isOnItsWay } from '../data/sender.ts';
import { useAnnouncement } from './notices.tsx';
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
  /** The todo to edit; without one, a save creates a new one. */
  id?: number | undefined;
  /** Whether the todo to edit has been deleted. */
  isGone?: boolean;
  /** An earlier change that could not be saved. */
  stuck?: Change | undefined;
  /** Where to go without saving. */
  cancel: string;
  /** @param isGone whether the todo to edit has been deleted */
  onLeave: (isGone: boolean) => void;
}

export function TodoForm({ initial, draftKey, id, isGone: wasGone = false, stuck, cancel, onLeave }: TodoFormProps) {
  const unsaved = stuck && {
    base: valuesLike(initial, stuck.base ?? initial),
    values: valuesLike(initial, stuck.mine),
  };
  const draft = useDraft(draftKey, initial, unsaved);
  const { base, values, conflict } = draft;
  const { description, isCompleted } = values;
  const [isGone, setGone] = useState(wasGone);
  const [isSaving, setSaving] = useState(false);
  /** Change that this form has made, or that it began with: the next one stands for it. */
  const made = useRef(stuck?.key);
  const [problem, setProblem] = useState(stuck?.problem);
  const [wasTried, setTried] = useState(false);
  // Null again when the page has been left.
  const field = useRef<HTMLTextAreaElement>(null);
  const versions = useRef<HTMLFieldSetElement>(null);
  useAnnouncement(isSaving ? 'Saving…' : undefined);

  const remaining = DESCRIPTION_LIMIT - Array.from(description).length;
  const error =
    mistake(description, remaining, wasTried) ?? (problem?.kind === 'refused' ? problem.message : undefined);
  const mustChoose = conflict !== undefined && conflict.isTheirs === undefined;

  async function save() {
    if (isSaving) return;
    setTried(true);
    setProblem(undefined);
    if (mistake(description, remaining, true)) {
      field.current!.focus();
      return;
    }
    if (mustChoose) {
      focusVersions();
      return;
    }
    setSaving(true);
    const todo = (of: Values): Todo => ({ id: id ?? 0, isCompleted: 0, ...of });
    const isNew = id === undefined || isGone;
    const saving = saveTyped(isNew ? undefined : todo(base), todo(values), made.current);
    made.current = saving.key;
    await saving.kept;
    // From here on, the outbox has it.
    draft.forget();
    const outcome = await saving.ended;
    if (!field.current) return;
    if (outcome !== 'stuck') {
      onLeave(isGone);
      return;
    }
    const { problem: why, present } = changeOf(saving.key)!;
    setProblem(why);
    setSaving(false);
    setTried(false);
    if (why!.kind === 'missing') setGone(true);
    if (present) draft.conflictWith(valuesLike(initial, present));
    else field.current.focus();
  }

  function change(changes: Partial<Values>) {
    setProblem(undefined);
    draft.change(changes);
  }

  /** Drops what was typed here, unless it may have arrived already. */
  function forget() {
    draft.forget();
    const { current } = made;
    if (current && !isOnItsWay(current)) void update([], [current]);
    made.current = undefined;
  }

  const focusVersions = () => versions.current!.querySelector('input')!.focus();
  useLayoutEffect(() => {
    if (problem?.kind === 'changed') versions.current?.querySelector('input')!.focus();
  }, [problem]);
  useEffect(() => {
    if (!conflict) field.current!.focus();
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
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isComposing(event)) return;
        event.preventDefault();
        // Keeps the text: Escape is a key that is hit by mistake.
        onLeave(isGone);
      }}
    >
      {draft.isRestored && (
        <Restored
          onDiscard={() => {
            draft.discard();
            forget();
            setTried(false);
            setProblem(undefined);
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
            setProblem(undefined);
            draft.choose(isTheirs);
          }}
        />
      )}
      {isGone ? (
        <Failed what="This todo is no longer there.">
          What you have typed is still here: you can save it as a new todo.
        </Failed>
      ) : (
        problem?.kind === 'unsure' && <Failed what="This may have been saved already.">{problem.message}</Failed>
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
            onClick={(event) => {
              // In another tab or window it leaves this form as it is.
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              forget();
              onLeave(isGone);
            }}
          >
            Cancel
          </a>
        </div>
      </div>
    </form>
  );
}

/** Of a todo, what a form of such values shows. */
const valuesLike = (values: Values, { description, isCompleted }: Values): Values =>
  values.isCompleted === undefined ? { description } : { description, isCompleted: isCompleted! };

function Failed({ what, children }: { what: string; children: ComponentChildren }) {
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{what}</strong> {children}
      </p>
    </div>
  );
}

function Restored({ onDiscard }: { onDiscard: () => void }) {
  const words = 'What you typed here before has been kept.';
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
