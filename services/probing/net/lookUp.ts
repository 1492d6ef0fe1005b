import { isIPv4 } from "node:net";
import { isAddressLiteral } from "tallystick-protocol/net/publicAddress";
import type { Policy } from "./policy.ts";

/** The most addresses of a name that are tried. */
const MAX_ADDRESSES = 2;

/** The addresses of a name, or the reason why it is not asked. */
export type LookedUp = { addresses: string[] } | { refused: "private_address" } | { refused: "no_address" };

/**
 * Looks up the addresses to connect to, IPv4 first, always in the same order. A name with a private address
 * is refused completely. The connection uses exactly the addresses that were checked here, and the name is
 * not looked up again.
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
