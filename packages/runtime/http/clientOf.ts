import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/** The connection of an anonymous client: its IP address, and the addresses that proxies added. */
export type Asker = { remoteAddress: string | undefined; forwardedFor: string | undefined };

/** Reads the address and the header from Node's request. */
export function askerOf({
  socket,
  headers,
}: {
  socket?: { remoteAddress?: string | undefined };
  headers: IncomingHttpHeaders;
}): Asker {
  const forwarded = headers["x-forwarded-for"];
  return {
    remoteAddress: socket?.remoteAddress,
    forwardedFor: Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
  };
}

/**
 * The client's address: the peer of the connection, or the peer of the outermost trusted proxy. Every proxy
 * adds its peer at the end of the list. Addresses further left may be written by the client and do not count.
 *
 * @param trustedProxies the number of trusted proxies, one behind the other
 * @returns an IPv4 address, the first 64 bits of an IPv6 address, or `unknown`
 */
export function clientOf({ remoteAddress, forwardedFor }: Asker, trustedProxies: number): string {
  const forwarded = trustedProxies > 0 ? forwardedFor?.split(",").at(-trustedProxies)?.trim() : undefined;
  const address = forwarded !== undefined && isIP(forwarded) ? forwarded : remoteAddress;
  return address === undefined ? "unknown" : networkOf(address);
}

/**
 * Returns the name under which an address is limited. For IPv6 this is the first 64 bits, because one owner usually
 * has all 2^64 addresses that begin with them.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = (address.split("%")[0] as string).split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind =
    tail === undefined || tail === "" ? 0 : tail.split(":").length + (tail.includes(".") ? 1 : 0);
  const zeros = tail === undefined ? 0 : 8 - groups.length - behind;
  const full = [...groups, ...Array<string>(zeros).fill("0"), ...(tail?.split(":") ?? [])];
  return full
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
