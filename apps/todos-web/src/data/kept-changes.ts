import type { Change } from './outbox.ts';

let opening: Promise<IDBDatabase> | undefined;

function open() {
  opening ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open('todos');
    request.onupgradeneeded = () => request.result.createObjectStore('outbox', { keyPath: 'key' });
    request.onsuccess = () => {
      // Safari closes it now and then.
      request.result.onclose = () => (opening = undefined);
      resolve(request.result);
    };
    request.onerror = () => reject(request.error!);
  });
  return opening;
}

async function transact<Result>(mode: IDBTransactionMode, act: (changes: IDBObjectStore) => Result) {
  const database = await open();
  return new Promise<Result>((resolve, reject) => {
    const transaction = database.transaction('outbox', mode);
    const result = act(transaction.objectStore('outbox'));
    // Otherwise it would be lost with a page that is closed in the same moment.
    transaction.commit();
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(transaction.error!);
  });
}

// Browsers that are told to store nothing throw at each use.

/** Reads the changes that this browser keeps, in their order. */
export const readChanges = async () =>
  (await transact('readonly', (changes) => changes.getAll() as IDBRequest<Change[]>)).result;

/** Forgets all that was done before a time, so that no earlier change of a todo outlives a later one. */
export async function forgetDone(before: number) {
  const over = (await readChanges()).filter(({ state, doneAt }) => state === 'done' && doneAt! < before);
  await writeChanges(
    [],
    over.map(({ key }) => key),
  );
}

/** Keeps changes, and forgets others, in one transaction. It ends when they survive a crash of the page. */
export const writeChanges = (kept: Change[], forgotten: string[]) =>
  transact('readwrite', (changes) => {
    kept.forEach((change) => changes.put(change));
    forgotten.forEach((key) => changes.delete(key));
  });
