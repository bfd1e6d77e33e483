import type { RefObject } from 'preact';
import type { Values } from '../data/description.ts';

interface VersionsProps {
  mine: Values;
  theirs: Values;
  isTheirs: boolean | undefined;
  /** Whether the service has the other version, rather than it waits in this browser. */
  isStored: boolean;
  fieldset: RefObject<HTMLFieldSetElement | null>;
  isDisabled: boolean;
  error: string | undefined;
  onChoose: (isTheirs: boolean) => void;
}

/** What the user has typed beside another client's newer version. The chosen one is in the field, to be saved. */
export function Versions({ mine, theirs, isTheirs, isStored, fieldset, isDisabled, error, onChoose }: VersionsProps) {
  const version = (label: string, { description, isCompleted }: Values, isOther: boolean) => (
    <label class="version">
      <input
        type="radio"
        name="version"
        checked={isTheirs === isOther}
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
    <fieldset class="versions" ref={fieldset} disabled={isDisabled}>
      <legend>This todo has been changed meanwhile. Which one is to stay?</legend>
      {version('Yours', mine, false)}
      {version(isStored ? 'Stored now' : 'Now, not sent yet', theirs, true)}
      <p class="error" id="version-error" role="alert">
        {error}
      </p>
    </fieldset>
  );
}
