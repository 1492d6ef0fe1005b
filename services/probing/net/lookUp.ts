import { isIPv4 } from "node:net";
import { isAddressLiteral } from "tallystick-protocol/net/publicAddress";
import type { Policy } from "./policy.ts";

/** Most addresses of a name that are tried. */
const MAX_ADDRESSES = 2;

/** Where a name leads, or why nobody is asked there. */
export type LookedUp = { addresses: string[] } | { refused: "private_address" } | { refused: "no_address" };

/**
 * The addresses to connect to, IPv4 first, always in the same order. A name with one address that is private is refused as a whole: what
 * is connected to is what was judged here, and no name is looked up again.
 */
export async function lookUp(
  hostname: string,
  { isPublic }: Pick<Policy, "isPublic">,
  resolve: (host: string) => Promise<string[]>,
): Promise<LookedUp> {
  const found = isAddressLiteral(hostname) ? [hostname] : await resolve(hostname).catch(() => []);
  if (found.length === 0) return { refused: "no_address" };
  if (!found.every(isPublic)) return { refused: "private_address" };
  const order = (address: string) => `${isIPv4(address) ? 4 : 6} ${address}`;
  const addresses = [...new Set(found)].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  return { addresses: addresses.slice(0, MAX_ADDRESSES) };
}
