import type { Address } from "tallystick-protocol/address";
import { hostOf } from "tallystick-protocol/net/publicAddress";

/** A live listing, as far as a prober has to know it. */
export type Target = {
  agent: Address;
  /** Who is paid for the agent; null for the agent itself. */
  payee: Address | null;
  capability: string;
  paymentMode: string;
  /** http or https, without `/hire`. */
  endpoint: string;
  maxLatencyMs: number;
};

/** `host:port` of an endpoint, as uptime records write it: lower case, the port always named, IPv6 in brackets; undefined when it has none. */
export function hostKeyOf(endpoint: string): string | undefined {
  const url = URL.parse(endpoint);
  if (url === null) return undefined;
  const host = hostOf(url);
  const port = url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80";
  const key = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return HOST_KEY.test(key) && key.length <= MAX_KEY_LENGTH ? key : undefined;
}

/** What an uptime record takes. */
const MAX_KEY_LENGTH = 261;
const HOST_KEY = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]):[1-9][0-9]{0,4}$/;
