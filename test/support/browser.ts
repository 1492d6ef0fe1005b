import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";

const run = promisify(execFile);

/**
 * Chromium without windows comes first. The other is a whole browser, whose own pages and services take a fifth of the
 * processor time of these tests.
 */
const WITHOUT_WINDOWS = "chromium-headless-shell";
const NAMES = [
  WITHOUT_WINDOWS,
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];
const MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** Most time for Debian's mirrors to bring a browser, in milliseconds. */
const INSTALL_MS = 480_000;

const ATTEMPTS = 10;
const RETRY_MS = 3_000;

/** Long enough to install a browser and start it. */
export const BROWSER_MS = INSTALL_MS + 240_000;

/**
 * The disabled features of Chromium. For every window it would make two invisible pages for the address bar, which cost
 * more than most of our pages. Chromium reads only the last list, so this list also has the features of Playwright's
 * list.
 */
const WITHOUT = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  ...["AimEnabled", "AutoDeElevate", "AvoidCorsURLLoaderRestartOnRedirect"],
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "BlockOriginHeaderModificationOnRedirect"],
  ...["DestroyProfileOnBrowserClose", "DialMediaRouteProvider", "GlobalMediaControls", "HttpsUpgrades"],
  ...["LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding"],
  ...["ThirdPartyStoragePartitioning", "Translate"],
];

/** A browser that makes no requests except those of pages. */
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
 * Starts the machine's own Chromium without a window. If there is none, and root runs the tests on Debian, it is
 * installed from Debian's packages. CHROMIUM_PATH names one at another place.
 *
 * @param more arguments of Chromium's
 * @throws Error that says what to install
 */
export async function startBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = installed() ?? (await install());
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  for (let attempt = 1; ; attempt++) {
    try {
      return await chromium.launch({ executablePath, args: [...QUIET, ...sandbox, ...more] });
    } catch (error) {
      // Another test may be installing it. The program is there before the files that it needs.
      if (attempt === ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

let shared: Promise<Browser> | undefined;

/**
 * The same as {@link startBrowser}, once for all suites of a process: a start takes some ten seconds of processor time. It is
 * closed after the last suite. Each suite closes its own pages.
 */
export function sharedBrowser(): Promise<Browser> {
  shared ??= startBrowser();
  return shared;
}

after(async () => {
  const browser = await shared?.catch(() => undefined);
  await browser?.close();
});

function installed(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== "") return named;
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const places = [...NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))), MAC];
  return places.find((place) => existsSync(place));
}

async function install(): Promise<string> {
  const apt = (...args: string[]) =>
    run("apt-get", ["-o", "DPkg::Lock::Timeout=300", "-qq", ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      timeout: INSTALL_MS,
    });
  try {
    if (process.getuid?.() !== 0) throw new Error("only root can install packages");
    await inTurn(async () => {
      await apt("update");
      const install = (name: string) => apt("install", "-y", "--no-install-recommends", name);
      // Ubuntu has only the whole browser.
      await install(WITHOUT_WINDOWS).catch(() => install("chromium"));
    });
  } catch (cause) {
    throw new Error(
      "These tests run in a browser, and this machine has none. Install Chromium (Debian: apt-get install " +
        `${WITHOUT_WINDOWS}), or set CHROMIUM_PATH to the program.`,
      { cause },
    );
  }
  const found = installed();
  if (found === undefined) throw new Error("Debian's packages brought no program of a known name.");
  return found;
}

/** Another test may be installing it. apt does not wait while another process fetches the lists. */
async function inTurn(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; installed() === undefined; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(RETRY_MS);
    }
  }
}

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
