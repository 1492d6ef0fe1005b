import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Gives every test of the calling suite its own folder, which is removed after the test. */
export function temporaryFolder(): { readonly path: string } {
  const folder = { path: "" };
  beforeEach(() => {
    folder.path = mkdtempSync(path.join(tmpdir(), "tallystick-settlement-"));
  });
  afterEach(() => rmSync(folder.path, { recursive: true, force: true }));
  return folder;
}
