import { chown, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Gives a file that root wrote to the owner of the file that it replaces, or else of its folder. The service, which is
 * not root, must be able to read it. Other users own what they write, so then this changes nothing.
 *
 * @param replaced the file of which it takes the place
 */
export async function keepOwner(file: string, replaced: string = file): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const known = replaced === file ? undefined : await stat(replaced).catch(() => undefined);
  const { uid, gid } = known ?? (await stat(path.dirname(file)));
  await chown(file, uid, gid);
}
