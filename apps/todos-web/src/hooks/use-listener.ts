import { useLayoutEffect, useRef } from 'preact/hooks';

type Events = WindowEventMap & Pick<DocumentEventMap, 'visibilitychange'>;

/** Calls the latest `listener` at each event of the window, while the component is shown. */
export function useListener<Type extends keyof Events>(type: Type, listener: (event: Events[Type]) => void) {
  const latest = useRef(listener);
  latest.current = listener;
  useLayoutEffect(() => {
    const listen = (event: Event) => latest.current(event as Events[Type]);
    addEventListener(type, listen);
    return () => removeEventListener(type, listen);
  }, []);
}
