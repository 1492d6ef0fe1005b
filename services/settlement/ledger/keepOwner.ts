import { lchown, lstat, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Gives a file that root wrote to the owner of the file that it replaces, or else of its folder. The service, which is
 * not root, must be able to read it. A process that is not root already owns what it writes, so then this changes nothing.
 *
 * @param replaced the file that the new one replaces
 */
export async function keepOwner(file: string, replaced: string = file): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const known = replaced === file ? undefined : await stat(replaced).catch(() => undefined);
  const { uid, gid } = known ?? (await stat(path.dirname(file)));
  // Never follows a link. The service's user could put a link here, and root would then give this user the link's
  // target.
  const own = await lstat(file);
  if (own.uid !== uid || own.gid !== gid) await lchown(file, uid, gid);
}
