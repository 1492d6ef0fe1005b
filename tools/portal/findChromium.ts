import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { TallystickError } from "tallystick-protocol/errors";

const run = promisify(execFile);

/**
 * Chromium without windows comes first. A whole browser has pages and services of its own, which take a fifth of the
 * processor time of the tests.
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

/** The longest time for fetching a browser from Debian's mirrors, in milliseconds. */
export const INSTALL_MS = 480_000;

const ATTEMPTS = 10;
const RETRY_MS = 3_000;

/**
 * Finds the Chromium that CHROMIUM_PATH names, or the Chromium of this machine. If there is none, and this process runs as root
 * on Debian or Ubuntu, it installs Chromium from the system's packages.
 *
 * @throws TallystickError `no_chromium`
 */
export async function findChromium(): Promise<string> {
  const found = installed() ?? (await install());
  if (found !== undefined) return found;
  throw new TallystickError({
    code: "no_chromium",
    message: "This machine has no Chromium.",
    hint: `Install it (Debian: apt-get install ${WITHOUT_WINDOWS}), or set CHROMIUM_PATH to the program.`,
  });
}

function installed(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== "") return named;
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const places = [...NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))), MAC];
  return places.find((place) => existsSync(place));
}

/** Installs Debian's package; undefined where that is not possible. */
async function install(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const apt = (...args: string[]) =>
    run("apt-get", ["-o", "DPkg::Lock::Timeout=300", "-qq", ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      timeout: INSTALL_MS,
    });
  // Another process may be installing it. apt does not wait while another process fetches the lists.
  for (let attempt = 1; installed() === undefined && attempt <= ATTEMPTS; attempt++) {
    try {
      await apt("update");
      const install = (name: string) => apt("install", "-y", "--no-install-recommends", name);
      // Ubuntu has only the whole browser.
      await install(WITHOUT_WINDOWS).catch(() => install("chromium"));
    } catch (error) {
      // There is no apt on this system, so another attempt would fail too.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      if (attempt < ATTEMPTS) await sleep(RETRY_MS);
    }
  }
  return installed();
}

/** Flags that keep Chromium from making requests of its own. */
export const CHROMIUM_FLAGS: readonly string[] = [
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

/** Flags to draw WebGL by the processor, on a machine without a graphics card. */
export const WEBGL_FLAGS: readonly string[] = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
