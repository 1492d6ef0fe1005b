/** The name of this prober in a robots.txt (RFC 9309). */
export const ROBOT = "tallystick-prober";

/** The most lines that are read of a robots.txt. */
const MAX_LINES = 2_000;

/** The most characters that are read of a line. */
const MAX_LENGTH = 500;

/**
 * Whether a host's robots.txt asks this prober to stay away: a group names it and disallows everything.
 * Groups for all robots (`*`) are about crawlers and do not count, because a seller that lists an endpoint
 * wants to be called there.
 */
export function isOptedOut(robotsTxt: string): boolean {
  let isAbout = false;
  let isRules = false;
  let isOut = false;
  for (const line of robotsTxt.split(/\r\n|\r|\n/, MAX_LINES)) {
    const { field, value } = readLine(line);
    if (field === "user-agent") {
      // Several names in a row begin the same group.
      if (isRules) [isAbout, isRules] = [false, false];
      isAbout ||= value.toLowerCase() === ROBOT;
    } else if (field === "allow" || field === "disallow") {
      isRules = true;
      if (isAbout && /^\/\*?$/.test(value)) isOut = field === "disallow";
    }
  }
  return isOut;
}

/** A stranger writes these lines. A regular expression with several `\s*` can take seconds for one of them. */
function readLine(line: string): { field: string; value: string } {
  const [rule = ""] = line.slice(0, MAX_LENGTH).split("#", 1);
  const colon = rule.indexOf(":");
  if (colon === -1) return { field: "", value: "" };
  return { field: rule.slice(0, colon).trim().toLowerCase(), value: rule.slice(colon + 1).trim() };
}
