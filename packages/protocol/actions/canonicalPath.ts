import { textComplaint } from "./plainText.ts";

/** Folders in which a path can lead to any other file, through processes, file descriptors or devices. */
const ALIASES = ["/proc", "/dev", "/sys", "/run"];

/**
 * Why a path is not the only spelling of what it names; undefined when it is. The only spelling begins at the
 * root. It has no `.`, `..`, empty or trailing segment, and no character that a shell or a decoder would
 * change. It does not pass through folders like /proc, where every file has a second path. A path does not
 * show symbolic links, so the caller resolves them first.
 */
export function pathComplaint(path: string): string | undefined {
  const unclear = textComplaint(path);
  if (unclear !== undefined) return unclear;
  if (path.length > 4096) return "must have at most 4096 characters";
  if (!path.startsWith("/")) return "must begin at the root: /";
  if (path === "/") return undefined;
  const segments = path.slice(1).split("/");
  if (segments.includes("")) return "must have no empty segment and no slash at its end";
  if (segments.some((segment) => /^\.+$/.test(segment))) return "must have no . or .. in it";
  if (segments.some((segment) => /^\s|[\s.]$/.test(segment)))
    return "must have no segment that begins with a space, or ends in a space or dot";
  const odd = /[\\%~$`"'*?[\]{}<>|;&!#^=,:]/.exec(path)?.[0];
  if (odd !== undefined) return `must not have ${odd} in it, which other programs read as something else`;
  if (ALIASES.some((alias) => isWithin(path.toLowerCase(), alias))) {
    return "must not go through /proc, /dev, /sys or /run, where other files can be reached";
  }
  return undefined;
}

/** Whether a path is a folder or lies in it, segment by segment: `/srv/ab` is not within `/srv/a`. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}
