import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * Moves the focus to a heading when the content below it changes to another thing. So a reader who pressed a link
 * further down the page comes to the heading.
 *
 * @param thing names the content; null if there is none, and then the focus does not move
 * @returns the ref of the heading, which needs a tabindex
 */
export function useFocusOnChange(thing: string | null): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(thing);
  useEffect(() => {
    if (thing !== null && thing !== shown.current) heading.current?.focus();
    shown.current = thing;
  }, [thing]);
  return heading;
}
