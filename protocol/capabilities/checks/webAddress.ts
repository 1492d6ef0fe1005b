/** Hosts of the own machine and of private networks, which no public answer can name. */
const PRIVATE =
  /^(localhost|.*\.(local|localhost|internal|lan|home|test|invalid)|0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?(::1?|f[cde][0-9a-f]{2}:.*)\]?$)/i;

/** Whether a text is an http or https address as it stands. */
export function isWebAddress(text: unknown): text is string {
  if (typeof text !== "string" || text.length > 4096 || !/^https?:\/\/[^\s\\]+$/i.test(text)) return false;
  return URL.canParse(text);
}

/** Whether an address leads to a public host: with a dot in its name, outside of private networks. */
export function isPublicAddress(text: unknown): boolean {
  if (!isWebAddress(text)) return false;
  const { hostname, username, password } = new URL(text);
  return hostname.includes(".") && !PRIVATE.test(hostname) && username === "" && password === "";
}
