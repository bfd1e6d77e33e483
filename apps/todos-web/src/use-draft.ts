import { useState } from 'preact/hooks';

/** What was changed in a form, kept for this tab until it is saved, so that a reload or a wrong click loses nothing. */
export function useDraft<Values extends object>(initial: Values) {
  const key = `draft ${location.pathname}`;
  const [changes, setChanges] = useState(() => kept<Values>(key));
  const [isRestored, setRestored] = useState(changes !== undefined);

  const forget = () => keep(key, undefined);

  return {
    values: { ...initial, ...changes },
    /** Whether the changes are of an earlier visit to this page. */
    isRestored,
    change: (change: Partial<Values>) => {
      const all = { ...changes, ...change };
      setChanges(all);
      keep(key, all);
    },
    forget,
    discard: () => {
      forget();
      setChanges(undefined);
      setRestored(false);
    },
  };
}

// A browser that is told to store nothing throws at every use of the storage; the form works without it.

function kept<Values>(key: string) {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Values> | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function keep(key: string, changes: object | undefined) {
  try {
    if (changes) sessionStorage.setItem(key, JSON.stringify(changes));
    else sessionStorage.removeItem(key);
  } catch {
    return;
  }
}
