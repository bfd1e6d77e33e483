import { useState } from 'preact/hooks';

/** What was changed in a form, kept for this tab until it is saved, so that a reload or a wrong click loses nothing. */
export function useDraft<Values extends object>(name: string, initial: Values) {
  const key = `draft ${name}`;
  const [changes, setChanges] = useState(() => read<Values>(key));
  const [isRestored, setRestored] = useState(changes !== undefined);

  const forget = () => write(key, undefined);

  return {
    values: { ...initial, ...changes },
    /** Whether the changes are of an earlier visit to this form. */
    isRestored,
    change: (change: Partial<Values>) => {
      const all = { ...changes, ...change };
      setChanges(all);
      write(key, all);
    },
    /** Shows the changes still, but keeps them no longer. */
    forget,
    keep: () => write(key, changes),
    discard: () => {
      forget();
      setChanges(undefined);
      setRestored(false);
    },
  };
}

// A browser that is told to store nothing throws at every use of the storage; the form works without it.

function read<Values>(key: string) {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Values> | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(key: string, changes: object | undefined) {
  try {
    if (changes) sessionStorage.setItem(key, JSON.stringify(changes));
    else sessionStorage.removeItem(key);
  } catch {
    return;
  }
}
