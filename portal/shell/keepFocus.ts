/**
 * Moves the focus of the keyboard to a heading when the focus would be lost. The reader can still move the focus out of
 * `main`.
 */
export type FocusKeeper = {
  /** Moves the focus to the heading of the page, now or as soon as the page has a heading. */
  toHeading: () => void;
  stop: () => void;
};

/** The parts of a page that have a heading of their own. */
const PARTS = "dialog, section, main";

/**
 * Watches a part of the page. When the element with the focus is removed, the browser gives the focus to nothing. People
 * with a keyboard or a screen reader then lose their place. So the heading of the nearest remaining part gets the focus.
 * @param main the element that contains every page; it has a tabindex
 */
export function keepFocus(main: HTMLElement): FocusKeeper {
  /** The element with the focus, and everything around it. */
  let path: Element[] = [];
  /** Whether the keeper still waits for the page to get a heading. */
  let isWaiting = false;

  const onFocusIn = ({ target }: FocusEvent) => {
    path = around(target as Element, main);
    isWaiting &&= target === main;
  };
  const onFocusOut = ({ target }: FocusEvent) => {
    // A removed element is no longer in the page when this microtask runs. If the element is still in the page and
    // nothing has the focus, the reader left the element. If it is removed later, no heading gets the focus.
    queueMicrotask(() => {
      if ((target as Element).isConnected && isNowhere()) path = [];
    });
  };
  const toHeading = () => {
    isWaiting = !focusHeading(main);
  };
  const observer = new MutationObserver(() => {
    if (isWaiting && document.activeElement === main) return toHeading();
    const [had] = path;
    if (had === undefined || had.isConnected || !isNowhere()) return;
    const part = path.find((it) => it.isConnected)?.closest<HTMLElement>(PARTS) ?? main;
    if (part === main) toHeading();
    else focusHeading(part);
  });
  main.addEventListener("focusin", onFocusIn);
  main.addEventListener("focusout", onFocusOut);
  observer.observe(main, { childList: true, subtree: true });
  return {
    toHeading,
    stop: () => {
      observer.disconnect();
      main.removeEventListener("focusin", onFocusIn);
      main.removeEventListener("focusout", onFocusOut);
    },
  };
}

function around(element: Element, main: Element): Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at !== null && at !== main; at = at.parentElement) path.push(at);
  return [...path, main];
}

function isNowhere(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Focuses the first heading of a part, or the part itself. Returns whether the part has a heading. */
function focusHeading(part: HTMLElement): boolean {
  const heading = part.querySelector<HTMLElement>("h1, h2");
  const element = heading ?? part;
  if (!element.hasAttribute("tabindex")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  return heading !== null;
}
