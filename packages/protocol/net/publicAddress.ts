import ipaddr from "ipaddr.js";

/**
 * Internal services of cloud providers at addresses that look public. Other such services are in ranges that
 * are refused anyway.
 */
const METADATA = new Set(["168.63.129.16"]);

/** Names that mean something only in a private network. */
const LOCAL_NAME = /\.(?:localhost|localdomain|local|internal|intranet|lan|home|home\.arpa)$/;

/** The lowest port that is allowed besides 443. Other protocols use the ports below 1024. */
const MIN_PORT = 1024;

/**
 * Whether an IP address is a public server's. It must not be loopback, private, link-local, of a carrier's NAT,
 * multicast or reserved. IPv6 forms that contain an IPv4 address (mapped, NAT64, 6to4, Teredo) are refused if that
 * address is.
 *
 * @param text as a resolver or a URL gives it, IPv6 without brackets
 */
export function isPublicAddress(text: string): boolean {
  // Short and octal forms are refused: a resolver and a URL give four decimal parts.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast") return false;
  if (address.kind() === "ipv4") return !METADATA.has(address.toString());
  // Global unicast addresses begin with 001. The rest is reserved.
  return (address.toByteArray()[0] ?? 0) >> 5 === 1;
}

/**
 * The host of a URL in the form for a DNS look-up: lower case, without brackets and without the final dot.
 */
export function hostOf({ hostname }: URL): string {
  return hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
}

/** Whether a host, as {@link hostOf} gives it, is an address and no name. */
export function isAddressLiteral(host: string): boolean {
  // The library throws and catches an error for each name. So names are told by their last label, which begins with no digit.
  return (host.includes(":") || /(?:^|\.)\d[^.]*$/.test(host)) && ipaddr.isValid(host);
}

/**
 * Whether a host, as {@link hostOf} gives it, may be on the public internet. It must be a public address, or a name
 * with a dot that is not a name of a private network.
 */
export function isPublicHost(host: string): boolean {
  if (isAddressLiteral(host)) return isPublicAddress(host);
  return host.includes(".") && host.split(".").every((label) => label !== "") && !LOCAL_NAME.test(host);
}

/**
 * Why an address from a stranger must not be called; undefined when it may be. Settlement, buyers, sellers and
 * callbacks share this policy. It looks at the text only. The caller must also check the addresses to which a name
 * resolves.
 */
export function addressProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url) return "must be an absolute address";
  if (url.protocol !== "https:") return "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must not have a user or a password";
  if (url.port !== "" && Number(url.port) < MIN_PORT) return `must use port 443, or one from ${MIN_PORT} on`;
  return isPublicHost(hostOf(url)) ? undefined : "must not be a loopback, private or link-local address";
}
