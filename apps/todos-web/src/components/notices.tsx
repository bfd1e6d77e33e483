import { useEffect, useRef } from 'preact/hooks';
import { stopBatch } from '../data/changes.ts';
import { formatCount } from '../data/format.ts';
import { outbox } from '../data/outbox.ts';
import { createStore } from '../data/store.ts';
import { useListener } from '../hooks/use-listener.ts';

/** Long enough to read twice. */
const SHOWN_MS = 8_000;

interface Notice {
  /** The todo or the form that it is about. */
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
  notice: undefined as Notice | undefined,
  isAtTop: false,
  /** What a screen reader says while something goes on that others see. */
  said: '',
});

/** Shows and announces a sentence on every page, in the place of the last one. It disappears by itself. */
export function notify(notice: Notice) {
  const row = document.querySelector(`[data-item="${notice.item}"]`)?.getBoundingClientRect();
  const isAtTop = row !== undefined && row.bottom > innerHeight - COVERED_PX && row.top > COVERED_PX;
  store.update({ notice, isAtTop });
}

/** Closes the notice about a todo or a form: it is no longer true. */
export function closeNotice(about: string) {
  if (isNoticed(about)) store.update({ notice: undefined });
}

export const isNoticed = (about: string) => store.get().notice?.about === about;

/** Announces a text for as long as the component that uses it shows the same to those who see. */
export function useAnnouncement(text: string | undefined) {
  useEffect(() => {
    if (!text) return;
    store.update({ said: text });
    return () => store.update({ said: '' });
  }, [text]);
}

export function Notices() {
  const { notice, isAtTop, said } = store.use();
  const box = useRef<HTMLDivElement>(null);
  const focusedBefore = useRef<Element | null>(null);

  useEffect(() => {
    if (!notice) return;
    const close = () => {
      if (box.current!.contains(document.activeElement)) timer = setTimeout(close, SHOWN_MS);
      else store.update({ notice: undefined });
    };
    let timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);

  useListener('keydown', ({ key, target, defaultPrevented }) => {
    // In a field, it clears the search or ends the composition of a word; elsewhere, it may have left something already.
    const isForField = (target as Element).matches('textarea, [type=search]');
    if (key === 'Escape' && !isForField && !defaultPrevented) dismiss();
  });

  /** Closes the notice by hand; the focus goes back to where it came from. */
  function dismiss() {
    if (box.current!.contains(document.activeElement)) {
      const before = focusedBefore.current;
      const target = before?.isConnected ? before : document.querySelector('h1');
      (target as HTMLElement).focus({ preventScroll: true });
    }
    store.update({ notice: undefined });
  }

  function undo() {
    dismiss();
    notice!.onUndo!();
  }

  // The regions are always there: one that comes together with its text is not announced.
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
      <div role="status">
        {notice && (
          <div key={notice.about} class="line notice">
            <p>
              {notice.isUndo && 'Undone: '}
              {notice.subject && (
                <>
                  “<bdi>{notice.subject}</bdi>”{' '}
                </>
              )}
              {notice.text}
            </p>
            {notice.onUndo && (
              <button type="button" onClick={undo}>
                Undo
              </button>
            )}
            <button type="button" onClick={dismiss}>
              Close
            </button>
          </div>
        )}
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
