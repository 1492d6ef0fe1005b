import { isAddressLiteral } from "tallystick-protocol/net/publicAddress";
import { getDomain } from "tldts";

/**
 * The site of a host: the part of its name that one owner has, or its address. Below `vercel.app` or `co.uk`, where many
 * owners get names, each has a site of its own (https://publicsuffix.org).
 *
 * @param host as `hostOf` gives it
 */
export function siteOf(host: string): string {
  if (isAddressLiteral(host)) return host;
  const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };
  return getDomain(host, options) ?? host;
}
