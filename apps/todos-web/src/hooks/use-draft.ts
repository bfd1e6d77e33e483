import { useRef, useState } from 'preact/hooks';
import { createRequestKey } from '../data/api.ts';
import { isConflict, isSame, merge } from '../data/merge.ts';

interface Draft<Values> {
  /** Stored record that the user has seen. */
  base: Values;
  /** What the form shows. */
  values: Values;
  /** The version that the form does not show, where the record was changed by another client. */
  other?: Values | undefined;
  /** Whether the form shows that client's version. Undefined until the user has chosen. */
  isTheirs?: boolean | undefined;
  /** Idempotency-Key of the request with these values. */
  requestKey?: string | undefined;
  /** Whether they were on their way to the service. */
  isSent?: boolean | undefined;
}

/** Drafts that this page is saving. A form opened during the save starts without them. Otherwise it would save them twice. */
const beingSaved = new Set<string>();

/** What was changed in a form, kept for this tab until it is saved, so that a reload or a wrong click loses nothing. */
export function useDraft<Values extends object>(name: string, initial: Values) {
  const key = keyOf(name);
  const [found, setFound] = useState(() => (beingSaved.has(key) ? undefined : restored(read<Values>(key), initial)));
  const [, setDrawn] = useState(0);
  const draft = useRef<Draft<Values>>(found ? { ...found, isSent: undefined } : { base: initial, values: initial });
  const { values, other, isTheirs } = draft.current;

  const forget = () => write(key, undefined);
  /** Another form of the same name may have written a draft of its own since this one was sent. */
  const isSentLast = () => read(key)?.isSent === true;

  function keep() {
    const { base, values: kept, other: isInConflict } = draft.current;
    write(key, isInConflict || !isSame(kept, base) ? draft.current : undefined);
  }

  function update(change: Partial<Draft<Values>>) {
    draft.current = { ...draft.current, ...change };
    setDrawn((times) => times + 1);
    keep();
  }

  return {
    values,
    /** Both versions of a record that another client has changed; `isTheirs` is undefined until `choose` is called. */
    conflict: other && { mine: isTheirs ? other : values, theirs: isTheirs ? values : other, isTheirs },
    /** State of an earlier visit's changes that the form shows: `kept`, or `sent` without waiting for the response. */
    restored: found && (found.isSent ? ('sent' as const) : ('kept' as const)),
    change: (change: Partial<Values>) => {
      update({ values: { ...draft.current.values, ...change }, requestKey: undefined });
    },
    /** The record has become another one since the form was filled. */
    conflictWith: (theirs: Values) => {
      update(conflicting(draft.current, theirs));
    },
    choose: (theirs: boolean) => {
      if (theirs !== (isTheirs ?? false)) update({ values: other!, other: values, requestKey: undefined });
      update({ isTheirs: theirs });
    },
    discard: () => {
      setFound(undefined);
      update({ values: draft.current.base, other: undefined, requestKey: undefined });
    },
    forget,
    /** @returns the Idempotency-Key of these values: the same as before if they have been sent before */
    sending: () => {
      const { requestKey = createRequestKey() } = draft.current;
      draft.current = { ...draft.current, requestKey };
      beingSaved.add(key);
      write(key, { ...draft.current, isSent: true });
      return requestKey;
    },
    saved: () => {
      beingSaved.delete(key);
      if (isSentLast()) forget();
    },
    /** @returns whether it is kept: not if it would take the place of another draft */
    failed: () => {
      beingSaved.delete(key);
      if (!isSentLast()) return false;
      keep();
      return true;
    },
  };
}

/** Record that a kept draft was written for, if there is one. */
export const draftBase = (name: string): unknown => read(keyOf(name))?.base;

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

// A browser that is told to store nothing throws at every use of the storage; the form works without it.

function read<Values>(key: string) {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Draft<Values> | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function write<Values>(key: string, draft: Draft<Values> | undefined) {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    return;
  }
}
