import { useEffect, useRef } from 'preact/hooks';
import { createStore } from '../data/store.ts';

/** Long enough to read twice. */
const SHOWN_MS = 8_000;

/** More would hide the page that they are about. */
const MOST_SHOWN = 3;

interface Notice {
  kind: 'saved' | 'problem';
  /** The todo or the form that it is about: a later notice about the same one takes its place. */
  about: string;
  /** Quoted before the text. It may be written in any direction. */
  subject?: string;
  text: string;
  retry?: (() => void) | undefined;
  retryLabel?: string;
  /** What could not be saved is nowhere else: it stays until it is tried again or closed by its own button. */
  isOnlyCopy?: boolean;
  /** What failed for want of a network: `retry` runs when there is one. */
  isOffline?: boolean;
}

const store = createStore({
  notices: [] as (Notice & { key: number })[],
  /** What a screen reader says while something goes on that others see. */
  said: '',
});

let lastKey = 0;

/** Shows and announces a sentence on every page. A success disappears by itself; a problem stays until the user closes it. */
export function notify(notice: Notice) {
  const others = store
    .get()
    .notices.filter(({ kind, about, isOnlyCopy }) => isOnlyCopy || (kind === 'problem' && about !== notice.about));
  lastKey += 1;
  const notices = [...others, { ...notice, key: lastKey }];
  const tooMany = beyondShown(notices).filter(({ isOffline }) => !isOffline);
  store.update({ notices: notices.filter((notice) => !tooMany.includes(notice)) });
}

const beyondShown = (notices: (Notice & { key: number })[]) =>
  notices.filter(({ isOnlyCopy }) => !isOnlyCopy).slice(0, -MOST_SHOWN);

/** Closes the notice about a todo or a form: it is no longer true. */
export const closeNotice = (about: string) => closeWhere((notice) => notice.about === about);

/**
 * Closes what waits for the network about a form that is open again.
 * @returns whether there was something
 */
export function closeOfflineNotice(about: string) {
  const { notices } = store.get();
  closeWhere((notice) => notice.about === about && notice.isOffline === true && !notice.isOnlyCopy);
  return notices.length > store.get().notices.length;
}

/** Tries again what failed offline: what its notice says is no longer true. */
addEventListener('online', () => {
  const waiting = store.get().notices.filter(({ isOffline }) => isOffline);
  closeWhere((notice) => waiting.includes(notice));
  for (const { retry } of waiting) retry?.();
});

function closeWhere(isClosed: (notice: Notice & { key: number }) => boolean) {
  store.update({ notices: store.get().notices.filter((notice) => !isClosed(notice)) });
}

/** Announces a text for as long as the component that uses it shows the same to those who see. */
export function useAnnouncement(text: string | undefined) {
  useEffect(() => {
    if (!text) return;
    store.update({ said: text });
    return () => store.update({ said: '' });
  }, [text]);
}

export function Notices() {
  const { notices, said } = store.use();
  const box = useRef<HTMLDivElement>(null);
  const focusedBefore = useRef<Element | null>(null);
  const saved = notices.find(({ kind }) => kind === 'saved');

  useEffect(() => {
    if (!saved) return;
    const close = () => {
      if (box.current!.contains(document.activeElement)) timer = setTimeout(close, SHOWN_MS);
      else closeWhere(({ key }) => key === saved.key);
    };
    let timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [saved?.key]);

  useEffect(() => {
    const closeAll = ({ key, target }: KeyboardEvent) => {
      // In a field, it clears the search or ends the composition of a word.
      const isForField = target instanceof Element && target.matches('textarea, [type=search]');
      if (key === 'Escape' && !isForField) dismiss(({ isOnlyCopy }) => !isOnlyCopy);
    };
    addEventListener('keydown', closeAll);
    return () => removeEventListener('keydown', closeAll);
  }, []);

  /** Closes notices by hand; the focus goes back to where it came from. */
  function dismiss(isClosed: (notice: Notice & { key: number }) => boolean) {
    if (box.current!.contains(document.activeElement)) {
      const before = focusedBefore.current;
      const target = before?.isConnected ? before : document.querySelector('h1');
      (target as HTMLElement).focus({ preventScroll: true });
    }
    closeWhere(isClosed);
  }

  const tooMany = beyondShown(notices);
  const boxes = (kind: Notice['kind']) =>
    notices
      .filter((notice) => notice.kind === kind && !tooMany.includes(notice))
      .map(({ key, subject, text, retry, retryLabel = 'Try again' }) => (
        <div key={key} class={`notice ${kind}`}>
          <p>
            {subject && (
              <>
                “<bdi>{subject}</bdi>”{' '}
              </>
            )}
            {text}
          </p>
          {retry && (
            <button
              type="button"
              onClick={() => {
                dismiss((notice) => notice.key === key);
                retry();
              }}
            >
              {retryLabel}
            </button>
          )}
          <button type="button" onClick={() => dismiss((notice) => notice.key === key)}>
            Close
          </button>
        </div>
      ));

  // The regions are always there: one that comes together with its text is not announced. Of several problems, only the
  // one that is new should be.
  return (
    <div
      class="notices"
      ref={box}
      onFocusIn={({ relatedTarget }) => {
        const before = relatedTarget as Element | null;
        if (before && !box.current!.contains(before)) focusedBefore.current = before;
      }}
    >
      <div role="status">{boxes('saved')}</div>
      <div role="alert" aria-atomic="false">
        {boxes('problem')}
      </div>
      <p class="hidden" role="status">
        {said}
      </p>
    </div>
  );
}
