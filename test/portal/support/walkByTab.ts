import type { Page } from "playwright-core";

/** Runs in the page. It records what gets the focus, and returns the controls that should get it. */
function watchFocus(): { expected: string[] } {
  const scope = globalThis as unknown as { walk: { reached: string[]; faults: string[] } };
  const nameOf = (it: Element): string => {
    const label = it.getAttribute("aria-label") ?? it.textContent ?? "";
    return `${it.tagName.toLowerCase()} ${label.trim().replace(/\s+/g, " ").slice(0, 60)}`;
  };
  const walk = { reached: [] as string[], faults: [] as string[] };
  scope.walk = walk;
  let before: DOMRect | undefined;
  document.addEventListener("focusin", ({ target }) => {
    const it = target as HTMLElement;
    walk.reached.push(nameOf(it));
    const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(it);
    const width = Number.parseFloat(outlineWidth);
    if (outlineStyle === "none" || width < 2) walk.faults.push(`no ring: ${nameOf(it)}`);
    const box = it.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + Math.min(box.height, 40) / 2];
    const seen = document.elementFromPoint(x, y);
    if (seen === null || !(it.contains(seen) || seen.contains(it)))
      walk.faults.push(`out of sight: ${nameOf(it)}`);
    // An ancestor that hides everything beyond its edge also cuts off the focus ring at this edge.
    const reach = width + Number.parseFloat(outlineOffset);
    for (
      let around = it.parentElement;
      around !== null && around !== document.body;
      around = around.parentElement
    ) {
      if (getComputedStyle(around).overflowX === "visible") continue;
      const edge = around.getBoundingClientRect();
      const cut = [
        edge.left - box.left,
        edge.top - box.top,
        box.right - edge.right,
        box.bottom - edge.bottom,
      ];
      const most = Math.max(...cut) + reach;
      if (most > 1.5) walk.faults.push(`ring cut off by ${most.toFixed(1)}: ${nameOf(it)}`);
      break;
    }
    // On the page the next control is below this one, or further to the right.
    const at = new DOMRect(box.x + scrollX, box.y + scrollY, box.width, box.height);
    if (before !== undefined && at.bottom <= before.top && at.left <= before.left)
      walk.faults.push(`back up: ${nameOf(it)}`);
    before = at;
  });
  const could = "a[href], button, input, select, textarea, summary, [tabindex]";
  const expected = [...document.querySelectorAll<HTMLElement>(could)].filter(
    (it) => it.tabIndex >= 0 && it.checkVisibility({ visibilityProperty: true }),
  );
  return { expected: expected.map(nameOf) };
}

/**
 * Walks a page from its top by Tab.
 *
 * @returns every fault: a control that Tab does not reach, a wrong order, no focus ring, a focus ring that is cut off
 */
export async function walkByTab(page: Page): Promise<string[]> {
  const { expected } = await page.evaluate(watchFocus);
  for (let n = 0; n < expected.length; n++) await page.keyboard.press("Tab");
  const { reached, faults } = await page.evaluate(
    () => (globalThis as unknown as { walk: { reached: string[]; faults: string[] } }).walk,
  );
  const wrong = expected.flatMap((it, n) =>
    it === reached[n] ? [] : [`${it}: Tab comes to ${reached[n] ?? "nothing"}`],
  );
  return [...wrong.slice(0, 3), ...faults];
}
