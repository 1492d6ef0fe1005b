/** How the page is coloured: as the reader's system says, or as the reader says. */
export type Theme = "auto" | "light" | "dark";

const KEY = "tallystick-theme";
const NEXT: { [theme in Theme]: Theme } = { auto: "light", light: "dark", dark: "auto" };

/** What the reader chose before, put in force. */
export function themeOf(): Theme {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // A browser may refuse to keep anything.
  }
  const theme = kept === "light" || kept === "dark" ? kept : "auto";
  show(theme);
  return theme;
}

/** Goes on to the next, keeps it, and puts it in force. */
export function nextTheme(theme: Theme): Theme {
  const next = NEXT[theme];
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Then it holds until the page is closed.
  }
  show(next);
  return next;
}

function show(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
