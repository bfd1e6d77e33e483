import { useRef, useState } from 'preact/hooks';
import { isConflict, isSame, merge } from '../data/merge.ts';
import { read, write } from '../data/storage.ts';

/** What a person has typed, and the stored record that it was typed over. */
export interface Typed<Values> {
  base: Values;
  values: Values;
}

interface Draft<Values> extends Typed<Values> {
  /** The version that the form does not show, where the record was changed by another client. */
  other?: Values | undefined;
  /** Whether the form shows that client's version. Undefined until the user has chosen. */
  isTheirs?: boolean | undefined;
}

/**
 * What was changed in a form, kept for this tab until the outbox has it, so that a reload or a wrong click loses nothing.
 * @param unsaved what was typed before and could not be saved
 */
export function useDraft<Values extends object>(name: string, initial: Values, unsaved?: Typed<Values>) {
  const key = keyOf(name);
  const [found, setFound] = useState(() => restored(read<Draft<Values>>(key) ?? unsaved, initial));
  const [, setDrawn] = useState(0);
  const draft = useRef<Draft<Values>>(found ?? { base: initial, values: initial });
  const { base, values, other, isTheirs } = draft.current;

  function update(change: Partial<Draft<Values>>) {
    draft.current = { ...draft.current, ...change };
    setDrawn((times) => times + 1);
    const { current } = draft;
    write(key, current.other || !isSame(current.values, current.base) ? current : undefined);
  }

  return {
    base,
    values,
    /** Both versions of a record that another client has changed; `isTheirs` is undefined until `choose` is called. */
    conflict: other && { mine: isTheirs ? other : values, theirs: isTheirs ? values : other, isTheirs },
    isRestored: found !== undefined,
    change: (change: Partial<Values>) => {
      update({ values: { ...draft.current.values, ...change } });
    },
    /** The record has become another one since the form was filled. */
    conflictWith: (theirs: Values) => {
      update(conflicting(draft.current, theirs));
    },
    choose: (theirs: boolean) => {
      if (theirs !== (isTheirs ?? false)) update({ values: other!, other: values });
      update({ isTheirs: theirs });
    },
    discard: () => {
      setFound(undefined);
      update({ values: draft.current.base, other: undefined });
    },
    forget: () => write(key, undefined),
  };
}

/** Record that a kept draft was written for, if there is one. */
export const draftBase = (name: string): unknown => read<Draft<unknown>>(keyOf(name))?.base;

const keyOf = (name: string) => `form ${name}`;

/** @returns the draft for the stored record: a conflict, if that is not what the user has seen */
function restored<Values extends object>(draft: Draft<Values> | undefined, stored: Values): Draft<Values> | undefined {
  if (!draft || isSame(mineOf(draft), stored)) return undefined;
  if (isSame(draft.base, stored)) return draft;
  const conflict = conflicting(draft, stored);
  return isConflict(draft.base, mineOf(draft), stored) ? conflict : { ...conflict, other: undefined };
}

function conflicting<Values extends object>(draft: Draft<Values>, theirs: Values): Draft<Values> {
  const mine = merge(draft.base, mineOf(draft), theirs);
  return { ...draft, base: theirs, values: mine, other: theirs, isTheirs: undefined };
}

/** What the user has typed, also if the form shows another client's version, unless that was edited. */
const mineOf = <Values extends object>({ base, values, other, isTheirs }: Draft<Values>) =>
  isTheirs && isSame(values, base) ? other! : values;
