import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buildPortal } from "../../../portal/build.mjs";

export type BuiltPortal = { folder: string; build: string };

let built: Promise<BuiltPortal> | undefined;

/** A fresh build of the portal. All suites of a process share it, because a build takes seconds of processor time. */
export function builtPortal(): Promise<BuiltPortal> {
  built ??= (async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tallystick-portal-"));
    return { folder, build: await buildPortal(folder) };
  })();
  return built;
}

after(async () => {
  const done = await built?.catch(() => undefined);
  if (done !== undefined) rmSync(done.folder, { recursive: true, force: true });
});
