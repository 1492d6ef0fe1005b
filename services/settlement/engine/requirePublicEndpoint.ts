import { InvalidInputError } from "tallystick-protocol/errors";
import { hostOf, isAddressLiteral, isPublicAddress } from "tallystick-protocol/net/publicAddress";
import { checkListing } from "tallystick-protocol/records/listing";
import type { SignedRecord } from "tallystick-protocol/records/record";

/** The addresses of a name; an empty list if it has none, or no name server answers. */
export type ResolveHost = (host: string) => Promise<string[]>;

/** The longest time for resolving a name, in milliseconds. */
const RESOLVE_MS = 3_000;

/**
 * Refuses a listing if the host name of its endpoint leads into a private network at present. A listing is accepted if
 * its name does not resolve in time, or if the listing is retired. Any name may lead elsewhere later, so buyers check
 * the address again when they connect.
 *
 * @throws InvalidInputError `body.endpoint`
 */
export async function requirePublicEndpoint(record: SignedRecord, resolveHost: ResolveHost): Promise<void> {
  if (record.type !== "listing") return;
  const { endpoint, retired } = checkListing(record);
  // The `URL` of this platform may refuse an `xn--` name that other platforms read. Then the name cannot be checked
  // here, and the listing is accepted.
  const url = retired ? null : URL.parse(endpoint);
  if (url === null) return;
  const host = hostOf(url);
  if (isAddressLiteral(host)) return;
  const { promise: late, resolve } = Promise.withResolvers<string[]>();
  const timer = setTimeout(() => resolve([]), RESOLVE_MS);
  const addresses = await Promise.race([resolveHost(host).catch(() => []), late]);
  clearTimeout(timer);
  if (addresses.every(isPublicAddress)) return;
  const message = "must not lead to a loopback, private or link-local address";
  throw new InvalidInputError({ issues: [{ field: "body.endpoint", message }] });
}
