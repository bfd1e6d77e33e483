import { useEffect } from 'preact/hooks';
import { createStore } from './store.ts';

/** Long enough to read twice. */
const SHOWN_MS = 8_000;

interface Notice {
  kind: 'saved' | 'problem';
  text: string;
  retry?: () => void;
}

const store = createStore<{ notice: Notice | undefined }>({ notice: undefined });

/** Shows and announces a sentence, whatever page is open. What went well goes by itself; a problem stays until it is closed. */
export const notify = (notice: Notice) => store.update({ notice });

const close = () => store.update({ notice: undefined });

export function Notices() {
  const { notice } = store.use();

  useEffect(() => {
    if (notice?.kind !== 'saved') return;
    const timer = setTimeout(close, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);

  // Both regions are always there: a region that comes together with its text is not announced.
  return (
    <div class="notices">
      <div role="status">{notice?.kind === 'saved' && <NoticeBox {...notice} />}</div>
      <div role="alert">{notice?.kind === 'problem' && <NoticeBox {...notice} />}</div>
    </div>
  );
}

function NoticeBox({ kind, text, retry }: Notice) {
  return (
    <div class={`notice ${kind}`}>
      <p dir="auto">{text}</p>
      {retry && (
        <button
          type="button"
          onClick={() => {
            close();
            retry();
          }}
        >
          Try again
        </button>
      )}
      <button type="button" onClick={close}>
        Close
      </button>
    </div>
  );
}
