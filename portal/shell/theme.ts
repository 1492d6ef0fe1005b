/** The colours of the page: those of the reader's system, or the ones that the reader chose. */
export type Theme = "auto" | "light" | "dark";

const KEY = "tallystick-theme";
const NEXT: { [theme in Theme]: Theme } = { auto: "light", light: "dark", dark: "auto" };

/** Reads the theme that the reader chose before, and applies it. */
export function themeOf(): Theme {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // A browser may refuse storage.
  }
  const theme = kept === "light" || kept === "dark" ? kept : "auto";
  show(theme);
  return theme;
}

/** Switches to the next theme, stores it and applies it. */
export function nextTheme(theme: Theme): Theme {
  const next = NEXT[theme];
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage the theme lasts until the page is closed.
  }
  show(next);
  return next;
}

function show(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
