import { useEffect, useRef } from 'preact/hooks';
import { stopBatch } from '../data/changes.ts';
import { formatCount } from '../data/format.ts';
import { outbox } from '../data/outbox.ts';
import { createStore } from '../data/store.ts';
import { useListener } from '../hooks/use-listener.ts';

/** Long enough to read twice. */
const SHOWN_MS = 8_000;

interface Notice {
  kind: 'saved' | 'problem';
  /** The todo or the form that it is about: a later notice about the same one takes its place. */
  about: string;
  /** The row that it is about, which it does not cover. */
  item?: number | undefined;
  isUndo?: boolean | undefined;
  /** Quoted before the text. It may be written in any direction. */
  subject?: string;
  text: string;
  onUndo?: (() => void) | undefined;
}

/** Height of a window's end that a notice may cover, on a phone. */
const COVERED_PX = 170;

const store = createStore({
  notices: [] as Notice[],
  isAtTop: false,
  /** What a screen reader says while something goes on that others see. */
  said: '',
});

/** Shows and announces a sentence on every page. A success disappears by itself; a problem stays until the user closes it. */
export function notify(notice: Notice) {
  const others = store.get().notices.filter(({ kind, about }) => kind === 'problem' && about !== notice.about);
  const row = document.querySelector(`[data-item="${notice.item}"]`)?.getBoundingClientRect();
  store.update({
    notices: [...others, notice],
    isAtTop: row !== undefined && row.bottom > innerHeight - COVERED_PX && row.top > COVERED_PX,
  });
}

/** Closes the notice about a todo or a form: it is no longer true. */
export const closeNotice = (about: string) => closeWhere((notice) => notice.about === about);

export const isNoticed = (about: string) => store.get().notices.some((notice) => notice.about === about);

function closeWhere(isClosed: (notice: Notice) => boolean) {
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
  const { notices, isAtTop, said } = store.use();
  const box = useRef<HTMLDivElement>(null);
  const focusedBefore = useRef<Element | null>(null);
  const saved = notices.find(({ kind }) => kind === 'saved');

  useEffect(() => {
    if (!saved) return;
    const close = () => {
      if (box.current!.contains(document.activeElement)) timer = setTimeout(close, SHOWN_MS);
      else closeWhere((notice) => notice === saved);
    };
    let timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [saved]);

  useListener('keydown', ({ key, target, defaultPrevented }) => {
    // In a field, it clears the search or ends the composition of a word; elsewhere, it may have left something already.
    const isForField = (target as Element).matches('textarea, [type=search]');
    if (key === 'Escape' && !isForField && !defaultPrevented) dismiss(() => true);
  });

  /** Closes notices by hand; the focus goes back to where it came from. */
  function dismiss(isClosed: (notice: Notice) => boolean) {
    if (box.current!.contains(document.activeElement)) {
      const before = focusedBefore.current;
      const target = before?.isConnected ? before : document.querySelector('h1');
      (target as HTMLElement).focus({ preventScroll: true });
    }
    closeWhere(isClosed);
  }

  const boxes = (kind: Notice['kind']) =>
    notices
      .filter((notice) => notice.kind === kind)
      .map((notice) => {
        const { about, isUndo, subject, text, onUndo } = notice;
        return (
          <div key={about} class={`line notice ${kind}`}>
            <p>
              {isUndo && 'Undone: '}
              {subject && (
                <>
                  “<bdi>{subject}</bdi>”{' '}
                </>
              )}
              {text}
            </p>
            {onUndo && (
              <button
                type="button"
                onClick={() => {
                  dismiss((other) => other.about === about);
                  onUndo();
                }}
              >
                Undo
              </button>
            )}
            <button type="button" onClick={() => dismiss((other) => other.about === about)}>
              Close
            </button>
          </div>
        );
      });

  // The regions are always there: one that comes together with its text is not announced. Of several problems, only the
  // one that is new should be.
  return (
    <div
      class={isAtTop ? 'notices top' : 'notices'}
      ref={box}
      onFocusIn={({ relatedTarget }) => {
        const before = relatedTarget as Element | null;
        if (before && !box.current!.contains(before)) focusedBefore.current = before;
      }}
    >
      <Batches />
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

/** How far changes of many todos have got; screen readers are told of their beginning and their end. */
function Batches() {
  const { batches } = outbox.use();
  const [first] = batches;
  useAnnouncement(first && `${formatCount(first.of)} todos are being saved.`);
  return (
    <>
      {batches.map(({ name, of, left, isCompleted }) => {
        const text = `${formatCount(of - left)} of ${formatCount(of)} todos are ${isCompleted ? 'done' : 'open again'}`;
        return (
          <aside key={name} class="line notice">
            <p>{text}.</p>
            <progress aria-label={text} value={of - left} max={of} />
            <button type="button" onClick={() => stopBatch(name)}>
              Stop
            </button>
          </aside>
        );
      })}
    </>
  );
}
