import { useRef, useState } from 'preact/hooks';
import type { Todo } from '../data/api.ts';
import { isConflict, isSame, merge } from '../data/merge.ts';
import { read, write } from '../data/storage.ts';

/** What a person makes of a todo, and the stored todo that it was made from. */
interface Draft {
  base: Todo;
  mine: Todo;
  /** What another client has made of it since. */
  theirs?: Todo | undefined;
  /** Whether that version is the one to save. Undefined until the user has chosen. */
  isTheirs?: boolean | undefined;
}

/**
 * What was changed in a field or a form, kept for this tab until the outbox has it, so that a reload or a wrong click loses nothing.
 * @param unsaved what was typed before and could not be saved
 */
export function useDraft(name: string, stored: Todo, unsaved?: Draft) {
  const key = `draft ${name}`;
  const [found, setFound] = useState(() => restored(read<Draft>(key) ?? unsaved, stored));
  const [, setDrawn] = useState(0);
  const draft = useRef<Draft>(found ?? { base: stored, mine: stored });
  const { current } = draft;

  function update(next: Draft) {
    draft.current = next;
    setDrawn((times) => times + 1);
    write(key, next.theirs || !isSame(next.mine, next.base) ? next : undefined);
  }

  return {
    ...current,
    /** What is shown, and saved. */
    values: shownOf(current),
    isRestored: found !== undefined,
    change: (change: Partial<Todo>) => {
      const { current } = draft;
      update({ ...current, [current.isTheirs ? 'theirs' : 'mine']: { ...shownOf(current), ...change } });
    },
    /** The todo has become another one since the form was filled. */
    conflictWith: (theirs: Todo) => update(conflicting(draft.current, theirs)),
    choose: (isTheirs: boolean) => update({ ...draft.current, isTheirs }),
    discard: () => {
      setFound(undefined);
      update({ base: current.base, mine: current.base });
    },
    forget: () => write(key, undefined),
  };
}

/** Todo that a kept draft was made from, if there is one. */
export const draftBase = (name: string) => read<Draft>(`draft ${name}`)?.base;

const shownOf = ({ mine, theirs, isTheirs }: Draft) => (isTheirs ? theirs! : mine);

/** @returns the draft for the stored todo: a conflict, if that is not what the user has seen */
function restored(draft: Draft | undefined, stored: Todo): Draft | undefined {
  if (!draft || isSame(wantedOf(draft), stored)) return undefined;
  if (isSame(draft.base, stored)) return draft;
  const conflict = conflicting(draft, stored);
  return isConflict(draft.base, wantedOf(draft), stored) ? conflict : { ...conflict, theirs: undefined };
}

function conflicting(draft: Draft, theirs: Todo): Draft {
  return { base: theirs, mine: merge(draft.base, wantedOf(draft), theirs), theirs };
}

/** What the user has typed, also if the form shows another client's version, unless that was edited. */
const wantedOf = ({ base, mine, theirs, isTheirs }: Draft) => (isTheirs && !isSame(theirs!, base) ? theirs! : mine);
