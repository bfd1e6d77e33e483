import { useLayoutEffect, useState } from 'preact/hooks';

/** State that outlives the page that is shown, with a hook that redraws its users when it changes. */
export function createStore<State extends object>(initial: State) {
  let state = initial;
  const users = new Set<() => void>();

  return {
    get: () => state,

    update(change: Partial<State>) {
      state = { ...state, ...change };
      users.forEach((draw) => draw());
    },

    use() {
      const [, setDrawn] = useState(0);
      useLayoutEffect(() => {
        const draw = () => setDrawn((times) => times + 1);
        users.add(draw);
        return () => void users.delete(draw);
      }, []);
      return state;
    },
  };
}
