import { mkdirSync } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";
import { CHROMIUM_FLAGS, findChromium, WEBGL_FLAGS } from "./findChromium.ts";
import { type PortalPage, portalPages } from "./portalPages.ts";

/** The widths of a phone, a tablet and a desktop screen. */
const WIDTHS = [390, 820, 1_280];

/** Pictures for the documentation: the top of a page on a desktop screen, as small files. */
const DOCUMENTED = [
  { name: "market", colorScheme: "light" },
  { name: "agent", colorScheme: "light" },
  { name: "cluster", colorScheme: "dark" },
  { name: "audits", colorScheme: "light" },
  { name: "escrow", colorScheme: "dark" },
] as const;
const [DOCUMENTED_SIZE, QUALITY] = [{ width: 1_280, height: 860 }, 70];

/** A tall page takes long to draw where other programs run. */
const SCREENSHOT_MS = 120_000;

/** The greatest height of a picture. The rest of a long table is not needed. */
const MAX_HEIGHT = 3_600;

/**
 * Takes a picture of each page of the portal, at three widths, in light and in dark colours.
 *
 * @param parameters.portal the URL of the portal, with a slash at the end
 * @param parameters.node the node whose agents and hires are shown
 * @param parameters.only the names of the pages; default all
 * @returns the files
 */
export async function takePictures(parameters: {
  portal: string;
  node: string;
  folder: string;
  widths?: readonly number[];
  only?: readonly string[];
}): Promise<string[]> {
  const { portal, node, folder, widths = WIDTHS, only = [] } = parameters;
  mkdirSync(folder, { recursive: true });
  const all: PortalPage[] = await portalPages(node);
  const pages = all.filter(({ name }) => only.length === 0 || only.includes(name));
  const files: string[] = [];
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    args: [...CHROMIUM_FLAGS, ...WEBGL_FLAGS],
  });
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ colorScheme, deviceScaleFactor: 1 });
      const page = await context.newPage();
      for (const { name, hash, text } of pages) {
        // A page that follows another one shows the focus of the keyboard around its heading.
        await page.goto("about:blank");
        await page.goto(`${portal}${hash}`);
        await page.getByText(text).first().waitFor({ timeout: 60_000 });
        await page.locator(".in-turn").first().waitFor({ state: "detached" });
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          const height = await page.evaluate(() => document.documentElement.scrollHeight);
          await page.setViewportSize({ width, height: Math.min(height, MAX_HEIGHT) });
          // After this time, graphs and parts that load later are drawn.
          await page.waitForTimeout(400);
          const file = path.join(folder, `${name}-${width}-${colorScheme}.png`);
          await page.screenshot({ path: file, timeout: SCREENSHOT_MS });
          files.push(file);
        }
      }
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return files;
}

/** Takes the pictures of docs/portal.md. */
export async function takeDocumented(parameters: {
  portal: string;
  node: string;
  folder: string;
}): Promise<string[]> {
  const { portal, node, folder } = parameters;
  mkdirSync(folder, { recursive: true });
  const pages = await portalPages(node);
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    args: [...CHROMIUM_FLAGS, ...WEBGL_FLAGS],
  });
  try {
    const files: string[] = [];
    for (const { name, colorScheme } of DOCUMENTED) {
      const found = pages.find((it) => it.name === name);
      if (found === undefined) continue;
      const page = await browser.newPage({ colorScheme, viewport: DOCUMENTED_SIZE });
      await page.goto(`${portal}${found.hash}`);
      await page.getByText(found.text).first().waitFor({ timeout: 60_000 });
      await page.waitForTimeout(400);
      const file = path.join(folder, `${name}.jpg`);
      await page.screenshot({ path: file, type: "jpeg", quality: QUALITY, timeout: SCREENSHOT_MS });
      files.push(file);
      await page.close();
    }
    return files;
  } finally {
    await browser.close();
  }
}
