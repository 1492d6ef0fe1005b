import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * Moves the focus to a heading when what stands below it becomes another thing. A reader who pressed a link further down is taken
 * there.
 *
 * @param thing names what stands there; null is nothing, to which the focus does not move
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
