import type { Todo } from '../data/api.ts';
import type { useDraft } from '../hooks/use-draft.ts';

interface VersionsProps {
  draft: ReturnType<typeof useDraft>;
  /** Whether the service has the other version, rather than it waits in this browser. */
  isStored: boolean;
  isDisabled: boolean;
  error: string | undefined;
  onChoose: (isTheirs: boolean) => void;
}

/** What the user has typed beside another client's newer version. The chosen one is in the field, to be saved. */
export function Versions({ draft, isStored, isDisabled, error, onChoose }: VersionsProps) {
  const version = (label: string, { description, isCompleted }: Todo, isOther: boolean) => (
    <label class="card version">
      <input
        type="radio"
        name="version"
        checked={draft.isTheirs === isOther}
        aria-describedby="version-error"
        onChange={() => onChoose(isOther)}
      />
      <span>
        <b>{label}</b>
        {isCompleted ? ', done' : ', open'}
        <span class="text" dir="auto" translate={false}>
          {description}
        </span>
      </span>
    </label>
  );
  return (
    <fieldset class="versions" disabled={isDisabled}>
      <legend>
        This todo has been changed meanwhile. Which one is to stay?{' '}
        <span class="error" id="version-error" role="alert">
          {error}
        </span>
      </legend>
      {version('Yours', draft.mine, false)}
      {version(isStored ? 'Stored now' : 'Now, not sent yet', draft.theirs!, true)}
    </fieldset>
  );
}
