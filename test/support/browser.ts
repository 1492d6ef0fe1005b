import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium } from "playwright-core";
import { findChromium, INSTALL_MS } from "../../tools/portal/findChromium.ts";

const ATTEMPTS = 10;
const RETRY_MS = 3_000;

/** The time limit for tests that install and start a browser. */
export const BROWSER_MS = INSTALL_MS + 240_000;

/**
 * The disabled features of Chromium. With the first two features Chromium makes two invisible pages for the address bar of
 * every window. These cost more than most of our pages. Chromium reads only the last such option, so this list also has
 * the features that Playwright disables.
 */
const WITHOUT = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  ...["AimEnabled", "AutoDeElevate", "AvoidCorsURLLoaderRestartOnRedirect"],
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "BlockOriginHeaderModificationOnRedirect"],
  ...["DestroyProfileOnBrowserClose", "DialMediaRouteProvider", "GlobalMediaControls", "HttpsUpgrades"],
  ...["LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding"],
  ...["ThirdPartyStoragePartitioning", "Translate"],
];

/** Options with which a browser makes no requests except those of pages. */
const QUIET = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${WITHOUT.join(",")}`,
];

/**
 * Starts the machine's own Chromium without a window. CHROMIUM_PATH may name its program. If the machine has none, and
 * root runs the tests on Debian, Chromium is installed from Debian's packages.
 *
 * @param more further arguments of Chromium
 * @throws TallystickError `no_chromium`
 */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = await findChromium();
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  for (let attempt = 1; ; attempt++) {
    try {
      return await chromium.launch({ executablePath, args: [...QUIET, ...sandbox, ...more] });
    } catch (error) {
      // Another test may be installing Chromium. Then the program exists before the files that it needs.
      if (attempt === ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

let shared: Promise<Browser> | undefined;

/**
 * A browser that all suites of a process share, because {@link startBrowser} takes about ten seconds of processor time. It
 * is closed after the last suite. Each suite closes its own pages.
 */
export function sharedBrowser(): Promise<Browser> {
  shared ??= startBrowser();
  return shared;
}

after(async () => {
  const browser = await shared?.catch(() => undefined);
  await browser?.close();
});

/**
 * The permissions of our pages: they run their own scripts, including WebAssembly, and send requests to servers of this
 * machine.
 */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self' http://127.0.0.1:*";

/** Serves scripts below a folder, and an empty page at `/`, under a strict Content-Security-Policy. */
export async function servePage(folder: string): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(async ({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://page");
    const head = (type: string) => ({ "content-type": type, "content-security-policy": POLICY });
    if (pathname === "/") {
      response.writeHead(200, head("text/html; charset=utf-8")).end("<!doctype html><title>page</title>");
      return;
    }
    try {
      const script = await readFile(path.join(folder, pathname));
      response.writeHead(200, head("text/javascript; charset=utf-8")).end(script);
    } catch {
      response.writeHead(404, head("text/plain")).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
