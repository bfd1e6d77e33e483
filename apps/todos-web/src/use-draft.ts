import { useState } from 'preact/hooks';

interface Stored<Values> {
  changes: Partial<Values>;
  /** Whether they were on their way to the service. */
  isSent?: boolean;
}

/** Drafts that this page is saving. A form opened during the save starts without them. Otherwise it would save them twice. */
const beingSaved = new Set<string>();

/** What was changed in a form, kept for this tab until it is saved, so that a reload or a wrong click loses nothing. */
export function useDraft<Values extends object>(name: string, initial: Values) {
  const key = `draft ${name}`;
  const [found, setFound] = useState(() => (beingSaved.has(key) ? undefined : readChanges(key, initial)));
  const [changes, setChanges] = useState(found?.changes ?? {});

  const forget = () => write(key, undefined);
  /** Another form of the same name may have written a draft of its own since this one was sent. */
  const isSentLast = () => read(key)?.isSent === true;

  return {
    values: { ...initial, ...changes },
    changes,
    /** State of an earlier visit's changes that the form shows: `kept`, or `sent` without waiting for the response. */
    restored: found && (found.isSent ? ('sent' as const) : ('kept' as const)),
    change: (change: Partial<Values>) => {
      const all = differences(initial, { ...changes, ...change });
      setChanges(all);
      write(key, Object.keys(all).length > 0 ? { changes: all } : undefined);
    },
    discard: () => {
      forget();
      setChanges({});
      setFound(undefined);
    },
    forget,
    sending: () => {
      beingSaved.add(key);
      write(key, { changes, isSent: true });
    },
    saved: () => {
      beingSaved.delete(key);
      if (isSentLast()) forget();
    },
    /** @returns whether it is kept: not if it would take the place of another draft */
    failed: () => {
      beingSaved.delete(key);
      if (!isSentLast()) return false;
      write(key, { changes });
      return true;
    },
  };
}

/** @returns a draft with what differs from the stored record by now, if anything does */
function readChanges<Values extends object>(key: string, initial: Values) {
  const draft = read<Values>(key);
  const changes = differences(initial, draft?.changes ?? {});
  return draft && Object.keys(changes).length > 0 ? { ...draft, changes } : undefined;
}

function differences<Values extends object>(initial: Values, changes: Partial<Values>) {
  const different = Object.entries(changes).filter(([name, value]) => value !== initial[name as keyof Values]);
  return Object.fromEntries(different) as Partial<Values>;
}

// A browser that is told to store nothing throws at every use of the storage; the form works without it.

function read<Values>(key: string) {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Stored<Values> | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function write<Values>(key: string, draft: Stored<Values> | undefined) {
  try {
    if (draft) sessionStorage.setItem(key, JSON.stringify(draft));
    else sessionStorage.removeItem(key);
  } catch {
    return;
  }
}
