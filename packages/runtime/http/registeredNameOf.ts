import { isAddressLiteral } from "tallystick-protocol/net/publicAddress";
import { getDomain } from "tldts";

/**
 * The name of a host that was paid for at a registry, or its address. The sites of a hosting service, such as those below
 * `vercel.app`, have one registered name, because they cost nothing.
 *
 * @param host as `hostOf` gives it
 */
export function registeredNameOf(host: string): string {
  if (isAddressLiteral(host)) return host;
  return getDomain(host, { extractHostname: false, validateHostname: false }) ?? host;
}
