import type { Address } from "tallystick-protocol/address";
import { hostOf } from "tallystick-protocol/net/publicAddress";

/** The fields of a live listing that a prober needs. */
export type Target = {
  agent: Address;
  /** The account that is paid for the agent; null for the agent itself. */
  payee: Address | null;
  capability: string;
  paymentMode: string;
  /** http or https, without `/hire`. */
  endpoint: string;
  maxLatencyMs: number;
};

/**
 * `host:port` of an endpoint, in the form of uptime records: lower case, always with the port, IPv6 in brackets.
 * Undefined if the endpoint has no valid host.
 */
export function hostKeyOf(endpoint: string): string | undefined {
  const url = URL.parse(endpoint);
  if (url === null) return undefined;
  const host = hostOf(url);
  const port = url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80";
  const key = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return HOST_KEY.test(key) && key.length <= MAX_KEY_LENGTH ? key : undefined;
}

/** The longest key that an uptime record accepts. */
const MAX_KEY_LENGTH = 261;
const HOST_KEY = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]):[1-9][0-9]{0,4}$/;
