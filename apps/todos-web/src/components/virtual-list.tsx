import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { firstIdOf } from '../data/ids.ts';
import { useListener } from '../hooks/use-listener.ts';

/** Rows kept above and below what can be seen: enough for a keyboard, a screen reader and a quick thumb. */
const AROUND = 16;

/** Maximum number of rows that are all in the document, where the browser finds their words. */
const MAX_WHOLE = 500;

interface VirtualListProps {
  /** Keys of the rows, in their order. */
  items: number[];
  /** What the rows were chosen by: while it stays, rows that come or go above the window move nothing in it. */
  chosenBy: string;
  /** Item whose row takes the focus when the list opens. */
  initialFocus: number;
  children: (item: number) => ComponentChildren;
}

/** A list of any length: of a long one only the rows near the window are in the document. The style sheet sets their height. */
export function VirtualList({ items, chosenBy, initialFocus, children }: VirtualListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [from, setFrom] = useState(0);
  const [to, setTo] = useState(AROUND);
  const [focused, setFocused] = useState(initialFocus);
  const before = useRef({ items, chosenBy });

  useLayoutEffect(() => {
    const last = before.current;
    before.current = { items, chosenBy };
    if (last.chosenBy !== chosenBy || last.items === items) return;
    const { top, height } = list.current!.getBoundingClientRect();
    const row = height / items.length;
    const first = Math.floor(-top / row);
    const movedBy = (index: number) => items.indexOf(last.items[index]!) - index;
    // A row that went elsewhere by itself is not followed.
    if (first > 0 && movedBy(first) === movedBy(first + 1)) scrollBy(0, movedBy(first) * row);
  }, [items]);

  function look() {
    if (matchMedia('print').matches) return;
    const isWhole = items.length <= MAX_WHOLE;
    const { top, height } = list.current!.getBoundingClientRect();
    // Moves in steps of 10 rows, so that most scrolling redraws nothing.
    const rowAt = (y: number) => Math.round(((y - top) / height) * (items.length / 10)) * 10;
    setFrom(isWhole ? 0 : rowAt(0) - AROUND);
    setTo(isWhole ? MAX_WHOLE : rowAt(innerHeight) + AROUND);
  }

  useLayoutEffect(() => {
    if (to !== AROUND) look();
    // The first screen is seen before the rows around it are made.
    let rest = requestAnimationFrame(() => (rest = requestAnimationFrame(look)));
    return () => cancelAnimationFrame(rest);
  }, [items.length]);
  useListener('scroll', look);
  useListener('resize', look);
  useListener('beforeprint', () => {
    setFrom(0);
    setTo(items.length);
  });
  useListener('afterprint', look);
  useScrollMemory();
  useLayoutEffect(() => {
    const row = list.current!.querySelector<HTMLElement>(`[data-item="${initialFocus}"] .more`);
    // Unless a person has gone on before the list came.
    if (document.activeElement!.matches('body, h1')) row?.focus({ preventScroll: true });
  }, []);

  // The row with the focus stays, since the focus would be lost with it, and so do those to which it may go from there.
  const kept = items.indexOf(focused);
  const isKept = (index: number) => kept >= 0 && Math.abs(index - kept) < 2;
  const indices = [...items.keys()].filter((index) => (index >= from && index < to) || isKept(index));

  return (
    <ul
      ref={list}
      class="card todos"
      // Without markers it would be no list for Safari.
      role="list"
      style={{ height: `calc(${items.length} * var(--row))` }}
      onFocusIn={({ target }) => setFocused(Number((target as Element).closest('li')?.dataset.item))}
    >
      {indices.map((index) => {
        const item = items[index]!;
        return (
          <li
            key={firstIdOf(item)}
            data-item={item}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            style={{ top: `calc(${index} * var(--row))` }}
          >
            {children(item)}
          </li>
        );
      })}
    </ul>
  );
}

/** Going back, forward or reloading shows the part of the list that was left: browsers restore it before the data are there. */
function useScrollMemory() {
  const timer = useRef(0);
  useLayoutEffect(() => {
    const { scrollY: left } = (history.state ?? {}) as { scrollY?: number };
    if (left !== undefined) scrollTo(0, left);
    return () => clearTimeout(timer.current);
  }, []);
  useListener('scroll', () => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => history.replaceState({ ...history.state, scrollY }, ''), 100);
  });
}
