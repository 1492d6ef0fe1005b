import { hostOf, isPublicHost } from "tallystick-protocol/net/publicAddress";

/** Whether a text is a full http or https address, without spaces and backslashes. */
export function isWebAddress(text: unknown): text is string {
  if (typeof text !== "string" || text.length > 4096 || !/^https?:\/\/[^\s\\]+$/i.test(text)) return false;
  return URL.canParse(text);
}

/** Whether a text is the address of a public page: http or https, no user, and a host of the public internet. */
export function isPublicPage(text: unknown): boolean {
  if (!isWebAddress(text)) return false;
  const url = new URL(text);
  return url.username === "" && url.password === "" && isPublicHost(hostOf(url));
}
