import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "chai";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Checks the present page against WCAG 2.2 A and AA, and against axe's best practices. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  // The debugger evaluates it, because the page's policy allows no other script.
  await page.evaluate(source);
  const violations = await page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe has set this global.
    const { violations } = await (globalThis as any).axe.run(document, { resultTypes: ["violations"] });
    return violations.map((it: { id: string; nodes: { target: unknown[]; failureSummary: string }[] }) => [
      it.id,
      ...it.nodes.slice(0, 3).map(({ target, failureSummary }) => `${target}: ${failureSummary}`),
    ]);
  });
  expect(violations, what).to.deep.equal([]);
}
