import { useEffect, useRef, useState } from 'preact/hooks';
import { stopBatch } from '../data/changes.ts';
import { formatCount } from '../data/format.ts';
import { outbox } from '../data/outbox.ts';
import { createStore } from '../data/store.ts';
import { isSentHere } from '../data/tabs.ts';
import { useListener } from '../hooks/use-listener.ts';
import { CloseIcon } from './icons.tsx';

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
  /** Whether it is not saved yet, which is said when that takes long. */
  isPending?: () => boolean;
  onUndo?: (() => void) | undefined;
}

/** Most changes have been saved before. */
const PENDING_MS = 1_000;

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
  outbox.use();
  const [late, setLate] = useState<Notice>();
  const box = useRef<HTMLDivElement>(null);
  const focusedBefore = useRef<Element | null>(null);

  useEffect(() => {
    if (!notice) return;
    const close = () => {
      if (box.current!.contains(document.activeElement)) timer = setTimeout(close, SHOWN_MS);
      else store.update({ notice: undefined });
    };
    let timer = setTimeout(close, SHOWN_MS);
    const lateTimer = setTimeout(() => setLate(notice), PENDING_MS);
    return () => {
      clearTimeout(timer);
      clearTimeout(lateTimer);
    };
  }, [notice]);

  useListener('keydown', ({ key, target, defaultPrevented }) => {
    // In a field, it clears the search or ends the composition of a word; elsewhere, it may have left something already.
    const isForField = (target as Element).matches('textarea, [type=search]');
    const isForOther = document.querySelector('dialog, .selection') !== null;
    if (key === 'Escape' && !isForField && !isForOther && !defaultPrevented) dismiss();
  });

  /** Closes the notice by hand; the focus goes back to where it came from. */
  function dismiss(andThen?: () => void) {
    if (box.current!.contains(document.activeElement)) {
      const before = focusedBefore.current;
      const target = before?.isConnected ? before : document.querySelector('h1');
      (target as HTMLElement).focus({ preventScroll: true });
    }
    store.update({ notice: undefined });
    andThen?.();
  }

  const words = notice && (
    <>
      {notice.isUndo && 'Undone: '}
      {notice.subject && (
        <>
          “<bdi translate={false}>{notice.subject}</bdi>”{' '}
        </>
      )}
      {notice.text}
    </>
  );
  const pending = notice && notice === late && notice.isPending?.() && 'Not saved yet.';

  // The regions are always there: one that comes together with its text is not announced. They have no buttons, whose names would be
  // read too, and stand beside what scrolls.
  return (
    <>
      <aside
        aria-label="Messages"
        class={isAtTop ? 'notices top' : 'notices'}
        ref={box}
        onFocusIn={({ relatedTarget }) => {
          const before = relatedTarget as Element | null;
          if (before && !box.current!.contains(before)) focusedBefore.current = before;
        }}
      >
        <Batches />
        {notice && (
          <div key={notice.about} class="line bar notice">
            <p>
              {words} {pending}
            </p>
            {notice.onUndo && (
              <button type="button" onClick={() => dismiss(notice.onUndo)}>
                Undo
              </button>
            )}
            <button type="button" class="bare" aria-label="Close" onClick={() => dismiss()}>
              <CloseIcon />
            </button>
          </div>
        )}
      </aside>
      <p class="hidden" role="status">
        {words}
      </p>
      <p class="hidden" role="status">
        {pending || said}
      </p>
    </>
  );
}

/** How far the first changes of many todos have got; screen readers are told of their beginning and their end. */
function Batches() {
  const { waiting } = outbox.use();
  const first = waiting.find(({ batch }) => batch);
  const { name, of } = first?.batch ?? { name: '', of: 0 };
  useAnnouncement(first && `${formatCount(of)} todos are being saved.`);
  if (!first) return null;
  const saved = of - waiting.filter(({ batch }) => batch?.name === name).length;
  const text = `${formatCount(saved)} of ${formatCount(of)} todos are ${first.mine.isCompleted ? 'done' : 'open again'}`;
  return (
    <div key={name} class="line bar notice">
      <p>{text}.</p>
      <progress aria-label={text} value={saved} max={of} />
      {isSentHere(first) && (
        <button type="button" onClick={() => stopBatch(name)}>
          Stop
        </button>
      )}
    </div>
  );
}
