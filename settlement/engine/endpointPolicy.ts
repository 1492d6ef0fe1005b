import { BlockList, isIP } from "node:net";

/** Networks that are nobody's public server: sending a buyer there attacks the buyer's own network. */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 96],
  // Translators to IPv4 networks, private ones among them (NAT64, 6to4, Teredo).
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  ["2001::", 32],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv6");
}

/**
 * Why a listing may not send buyers to this address, or undefined when it may: not https, or a host that is a loopback,
 * private or link-local one by its literal or its name (a name without a dot is one of the asker's own network). Names
 * are not resolved: that is the buyer's to check again.
 *
 * @param endpoint an absolute http or https URL
 */
export function endpointProblem(endpoint: string): string | undefined {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol !== "https:") return "must begin with https://";
  const host = hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  const version = isIP(host);
  const isPrivate =
    version === 0
      ? !host.includes(".") ||
        /\.(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/.test(host)
      : PRIVATE.check(host, version === 4 ? "ipv4" : "ipv6");
  return isPrivate ? "must not be a loopback, private or link-local address" : undefined;
}
