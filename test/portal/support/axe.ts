import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "chai";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Checks the present page in light and in dark colours, for WCAG 2.2 A and AA and for axe's best practices. In dark
 * colours it checks only the contrast, because nothing else depends on the colours.
 */
export async function expectAccessibleInBothColours(page: Page, what: string): Promise<void> {
  await useColours(page, "dark");
  await expectAccessible(page, `${what} in dark colours`, ["color-contrast"]);
  await useColours(page, "light");
  await expectAccessible(page, what);
}

/** Changes the colours at once. The page changes them slowly, and axe would see the colours in between. */
async function useColours(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(() => {
    for (const it of document.getAnimations()) if (it instanceof CSSTransition) it.finish();
  });
}

/**
 * Checks the present page against WCAG 2.2 A and AA, and against axe's best practices.
 *
 * @param rules the rules of axe to check; without it, all rules
 */
export async function expectAccessible(page: Page, what: string, rules?: string[]): Promise<void> {
  // The debugger evaluates axe, because the page's policy allows no other script. Axe is large, so it is evaluated once
  // for each load of a page.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const violations = await page.evaluate(async (rules) => {
    const only = rules === undefined ? {} : { runOnly: rules };
    // biome-ignore lint/suspicious/noExplicitAny: axe has set this global.
    const { violations } = await (globalThis as any).axe.run(document, {
      resultTypes: ["violations"],
      ...only,
    });
    return violations.map((it: { id: string; nodes: { target: unknown[]; failureSummary: string }[] }) => [
      it.id,
      ...it.nodes.slice(0, 3).map(({ target, failureSummary }) => `${target}: ${failureSummary}`),
    ]);
  }, rules);
  expect(violations, what).to.deep.equal([]);
}
