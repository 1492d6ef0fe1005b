import type { RefObject } from "preact";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { type FocusKeeper, keepFocus } from "./keepFocus.ts";

/**
 * Makes sure that the focus of the keyboard is not lost when the content of `main` changes.
 * @returns a function that moves the focus to the heading of the page
 */
export function useFocusKeeper(main: RefObject<HTMLElement | null>): () => void {
  const keeper = useRef<FocusKeeper | null>(null);
  useEffect(() => {
    if (main.current === null) return;
    keeper.current = keepFocus(main.current);
    return () => keeper.current?.stop();
  }, [main]);
  return useCallback(() => keeper.current?.toHeading(), []);
}
