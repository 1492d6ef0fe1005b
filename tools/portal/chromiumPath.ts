import { existsSync } from "node:fs";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * Finds the Chromium that CHROMIUM_PATH names, or the one of this machine.
 *
 * @throws TallystickError `no_chromium`
 */
export function chromiumPath(): string {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== "") return named;
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const found = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((it) =>
    existsSync(it),
  );
  if (found !== undefined) return found;
  throw new TallystickError({
    code: "no_chromium",
    message: "This machine has no Chromium.",
    hint: "Install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to the program.",
  });
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
