import type { Page } from "playwright-core";

/** The element with the keyboard's focus: its tag, and its label or text, such as `H1 Audits`. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const it = document.activeElement;
    return `${it?.tagName} ${it?.getAttribute("aria-label") ?? it?.textContent?.trim() ?? ""}`;
  });
}

/** Waits until the text that {@link focused} gives begins with `name`. */
export async function focusComesTo(page: Page, name: string): Promise<void> {
  await page.waitForFunction((name) => {
    const it = document.activeElement;
    const text = it?.getAttribute("aria-label") ?? it?.textContent?.trim() ?? "";
    return `${it?.tagName} ${text}`.startsWith(name);
  }, name);
}
