import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Todo } from '../data/api.ts';
import { discard, saveTyped } from '../data/changes.ts';
import { DESCRIPTION_LIMIT, remainingOf, TOO_LONG } from '../data/description.ts';
import { changeOf, changesOf, outbox, type Change } from '../data/outbox.ts';
import { instead } from '../data/router.ts';
import { useDraft } from '../hooks/use-draft.ts';
import { endingKeys } from './ending-keys.ts';
import { useAnnouncement } from './notices.tsx';
import { Versions } from './versions.tsx';

/** How few characters are left is said when these are reached. */
const NEARLY_FULL = [5, 10, 20];

const KEPT = 'What you typed here before has been kept.';

interface TodoFormProps {
  /** The todo to replace; one without an id is created. */
  initial: Todo;
  /** Under which what is typed is kept. */
  draftKey: string;
  /** Whether that todo has been deleted. */
  wasGone?: boolean;
  /** An earlier change that could not be saved. */
  stuck: Change | undefined;
  /** Where to go without saving. */
  cancel: string;
  /** @param isGone whether the todo has been deleted */
  onLeave: (isGone: boolean) => void;
}

/** Saves what is typed by way of the outbox, and says what keeps it from being saved. */
export function TodoForm({ initial, draftKey, wasGone = false, stuck, cancel, onLeave }: TodoFormProps) {
  const unsaved = stuck && { base: stuck.base ?? initial, mine: { ...stuck.mine, id: initial.id } };
  const draft = useDraft(draftKey, initial, unsaved);
  const { theirs, isTheirs, isRestored } = draft;
  const { description, isCompleted } = draft.values;
  const [isGone, setGone] = useState(wasGone);
  const [isSaving, setSaving] = useState(false);
  const [wasTried, setTried] = useState(false);
  const [problem, setProblem] = useState(stuck?.problem);
  /** Change that this form has made, or that it began with: the next one stands for it. */
  const made = useRef(stuck?.key);
  const form = useRef<HTMLFormElement>(null);
  const isLeft = useRef(false);
  outbox.use();
  useAnnouncement(isSaving ? 'Saving…' : isRestored ? KEPT : undefined);

  const focus = (selector: string) => form.current!.querySelector<HTMLElement>(selector)?.focus();
  const remaining = remainingOf(description);
  const error = mistake(description, wasTried) ?? (problem?.kind === 'refused' ? problem.message : undefined);
  const mustChoose = theirs !== undefined && isTheirs === undefined;
  const fewLeft = NEARLY_FULL.find((limit) => remaining >= 0 && remaining <= limit);

  async function submit() {
    if (isSaving) return;
    setTried(true);
    setProblem(undefined);
    if (mistake(description, true)) focus('textarea');
    else if (mustChoose) focus('[type=radio]');
    else await save();
  }

  async function save() {
    setSaving(true);
    const saving = saveTyped(initial.id && !isGone ? draft.base : undefined, draft.values, made.current);
    made.current = saving.key;
    await saving.kept;
    // From here on, the outbox has it.
    draft.forget();
    const outcome = await saving.ended;
    if (isLeft.current) return;
    if (outcome !== 'stuck') {
      onLeave(isGone);
      return;
    }
    const { problem: why, present } = changeOf(saving.key)!;
    setSaving(false);
    setTried(false);
    setProblem(why);
    if (why!.kind === 'missing') setGone(true);
    if (present) draft.conflictWith(present);
  }

  /** Drops what was typed here, unless it may have arrived already. */
  function drop() {
    draft.discard();
    const dropped = made.current && changeOf(made.current);
    if (dropped) discard(dropped);
    made.current = undefined;
    setTried(false);
    setProblem(undefined);
  }

  function change(changes: Partial<Todo>) {
    setProblem(undefined);
    draft.change(changes);
  }

  useLayoutEffect(() => () => void (isLeft.current = true), []);
  useLayoutEffect(() => {
    if (problem) focus(problem.kind === 'changed' ? '[type=radio]' : 'textarea');
  }, [problem]);
  useEffect(() => {
    if (!theirs) focus('textarea');
  }, []);

  return (
    <form
      class="card"
      ref={form}
      noValidate
      aria-busy={isSaving}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      // Escape keeps the text: it is a key that is hit by mistake.
      onKeyDown={endingKeys((isToSave) => (isToSave ? void submit() : onLeave(isGone)))}
    >
      {isRestored && (
        <div class="card line banner">
          <p>{KEPT}</p>
          <button
            type="button"
            class="button quiet"
            onClick={() => {
              drop();
              focus('textarea');
            }}
          >
            Discard it
          </button>
        </div>
      )}
      {theirs && (
        <Versions
          draft={draft}
          isStored={!changesOf(initial.id).some(({ state }) => state === 'waiting')}
          isDisabled={isSaving}
          error={wasTried && mustChoose ? 'Choose one of them first.' : undefined}
          onChoose={(isOther) => {
            setProblem(undefined);
            draft.choose(isOther);
          }}
        />
      )}
      {(isGone || problem?.kind === 'unsure') && (
        <p class="card failure" role="alert">
          <strong>{isGone ? 'This todo is no longer there.' : 'This may have been saved already.'}</strong>{' '}
          {isGone ? 'What you have typed is still here: you can save it as a new todo.' : problem!.message}
        </p>
      )}
      <label for="description">Description</label>
      <textarea
        id="description"
        dir="auto"
        rows={3}
        enterkeyhint="done"
        required
        readOnly={isSaving}
        aria-invalid={error !== undefined}
        aria-describedby="description-error description-count"
        value={description}
        onInput={({ currentTarget: { value } }) => change({ description: value })}
      />
      <div class="last">
        <div class="line">
          <p class="error" id="description-error" role="alert">
            {error}
          </p>
          <p class={remaining < 0 ? 'count error' : 'small count'} id="description-count">
            {DESCRIPTION_LIMIT - remaining} of {DESCRIPTION_LIMIT} characters
          </p>
          <p class="hidden" role="status">
            {fewLeft && `No more than ${fewLeft} characters are left`}
          </p>
        </div>
        <div class="line actions">
          {initial.id > 0 && (
            <label class="check">
              <input
                type="checkbox"
                checked={isCompleted === 1}
                disabled={isSaving}
                onChange={({ currentTarget: { checked } }) => change({ isCompleted: checked ? 1 : 0 })}
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
            onClick={instead(() => {
              drop();
              onLeave(isGone);
            })}
          >
            Cancel
          </a>
        </div>
      </div>
    </form>
  );
}

/** A text that is too long is told while it is typed, one that is empty only when saving it has been tried. */
function mistake(description: string, wasTried: boolean) {
  if (remainingOf(description) < 0) return TOO_LONG;
  return wasTried && description.trim() === '' ? 'Write down what is to be done.' : undefined;
}
