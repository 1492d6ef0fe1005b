import { http } from "viem";
import { OWN_CONNECTION } from "./ownConnection.ts";

/**
 * A transport of viem to a chain on this machine. Each request has a connection of its own. So no transaction is sent on a
 * connection that the chain has just closed: such a transaction is lost, because viem sends no transaction twice.
 */
export function localTransport(rpcUrl: string, { signal }: { signal?: AbortSignal } = {}) {
  return http(rpcUrl, { fetchOptions: { headers: OWN_CONNECTION, ...(signal && { signal }) } });
}
