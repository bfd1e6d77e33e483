import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { changesOf, outbox } from '../data/outbox.ts';
import { isForAnotherWindow } from '../data/router.ts';
import { remainingOf, TOO_LONG, type Values } from '../data/description.ts';
import { useDraft } from '../hooks/use-draft.ts';
import { useSave, valuesLike, type SaveOptions } from '../hooks/use-save.ts';
import { DescriptionField, isComposing } from './description-field.tsx';
import { useAnnouncement } from './notices.tsx';
import { Versions } from './versions.tsx';

interface TodoFormProps extends SaveOptions {
  initial: Values;
  /** Under which what is typed is kept. */
  draftKey: string;
  /** Where to go without saving. */
  cancel: string;
}

export function TodoForm(props: TodoFormProps) {
  const { initial, draftKey, stuck, cancel, onLeave } = props;
  const unsaved = stuck && {
    base: valuesLike(initial, stuck.base ?? initial),
    values: valuesLike(initial, stuck.mine),
  };
  const draft = useDraft(draftKey, initial, unsaved);
  outbox.use();
  const { conflict } = draft;
  const { description, isCompleted } = draft.values;
  const { isGone, isSaving, problem, save, drop, clearProblem } = useSave(draft, props);
  const [wasTried, setTried] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const versions = useRef<HTMLFieldSetElement>(null);
  useAnnouncement(isSaving ? 'Saving…' : undefined);

  const error = mistake(description, wasTried) ?? (problem?.kind === 'refused' ? problem.message : undefined);
  const mustChoose = conflict !== undefined && conflict.isTheirs === undefined;
  const focusVersions = () => versions.current?.querySelector('input')!.focus();

  async function submit() {
    if (isSaving) return;
    setTried(true);
    clearProblem();
    if (mistake(description, true)) field.current!.focus();
    else if (mustChoose) focusVersions();
    else {
      await save();
      setTried(false);
    }
  }

  function change(changes: Partial<Values>) {
    clearProblem();
    draft.change(changes);
  }

  useLayoutEffect(() => {
    if (problem?.kind === 'changed') focusVersions();
    else if (problem) field.current!.focus();
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
        void submit();
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
            drop();
            setTried(false);
            clearProblem();
            field.current!.focus();
          }}
        />
      )}
      {conflict && (
        <Versions
          {...conflict}
          isStored={!changesOf(props.id!).some(({ state }) => state === 'waiting')}
          fieldset={versions}
          isDisabled={isSaving}
          error={wasTried && mustChoose ? 'Choose one of them first.' : undefined}
          onChoose={(isTheirs) => {
            clearProblem();
            draft.choose(isTheirs);
          }}
        />
      )}
      {(isGone || problem?.kind === 'unsure') && (
        <p class="card failure" role="alert">
          <strong>{isGone ? 'This todo is no longer there.' : 'This may have been saved already.'}</strong>{' '}
          {isGone ? 'What you have typed is still here: you can save it as a new todo.' : problem!.message}
        </p>
      )}
      <DescriptionField
        field={field}
        value={description}
        error={error}
        isSaving={isSaving}
        onType={(typed) => change({ description: typed })}
        onEnter={() => void submit()}
      >
        <div class="line actions">
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
              if (isForAnotherWindow(event)) return;
              event.preventDefault();
              drop();
              onLeave(isGone);
            }}
          >
            Cancel
          </a>
        </div>
      </DescriptionField>
    </form>
  );
}

function Restored({ onDiscard }: { onDiscard: () => void }) {
  const words = 'What you typed here before has been kept.';
  useAnnouncement(words);
  return (
    <div class="card line banner">
      <p>{words}</p>
      <button type="button" onClick={onDiscard}>
        Discard it
      </button>
    </div>
  );
}

/** A text that is too long is told while it is typed, one that is empty only when saving it has been tried. */
function mistake(description: string, wasTried: boolean) {
  if (remainingOf(description) < 0) return TOO_LONG;
  return wasTried && description.trim() === '' ? 'Write down what is to be done.' : undefined;
}
