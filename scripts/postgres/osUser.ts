import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";

/** The user id and group id of an OS user. */
export type OsUser = { uid: number; gid: number };

/**
 * The OS user that PostgreSQL runs as. For an ordinary user it is undefined, which means the same user.
 * PostgreSQL refuses to run as root, so for root it is `postgres`, or `nobody` if there is no `postgres`. No
 * user is ever created.
 *
 * @throws TallystickError `no_os_user`
 */
export function postgresUser(uid = process.getuid?.(), lookUp = idOf): OsUser | undefined {
  if (uid !== 0) return undefined;
  const user = lookUp("postgres") ?? lookUp("nobody");
  if (user) return user;
  throw new TallystickError({
    code: "no_os_user",
    message:
      "PostgreSQL does not run as root, and this machine has no OS user `postgres` or `nobody` to run it as.",
    hint: "Create one (`useradd --system postgres`) or run this as an ordinary user.",
  });
}

function idOf(name: string): OsUser | undefined {
  const ask = (flag: string) =>
    Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  try {
    return { uid: ask("-u"), gid: ask("-g") };
  } catch {
    return undefined;
  }
}

/**
 * Whether a user can read and enter a folder, or read and run a file. It looks at the permission bits of the
 * path and of every folder above it. A clone under `mktemp -d` or `/root`, for example, is closed to other
 * users.
 */
export function isReachableBy(
  user: OsUser,
  target: string,
  stat: (path: string) => Stat = statSync,
): boolean {
  const allowed = (file: string, wanted: number) => {
    const { mode, uid, gid } = stat(file);
    const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
    return ((mode >> shift) & wanted) === wanted;
  };
  try {
    if (!allowed(target, 0o5)) return false;
    for (let dir = path.dirname(target); ; dir = path.dirname(dir)) {
      if (!allowed(dir, 0o1)) return false;
      if (dir === path.dirname(dir)) return true;
    }
  } catch {
    return false;
  }
}

type Stat = { mode: number; uid: number; gid: number };
