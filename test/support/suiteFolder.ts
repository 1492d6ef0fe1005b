import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A folder for all tests of a suite. Every `before` after this call can use the folder. It is removed at the end. */
export function suiteFolder(): { readonly path: string } {
  const folder = { path: "" };
  before(() => {
    folder.path = mkdtempSync(path.join(tmpdir(), "tallystick-suite-"));
  });
  after(() => rmSync(folder.path, { recursive: true, force: true }));
  return folder;
}
