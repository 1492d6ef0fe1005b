import { http } from "viem";

/**
 * A transport of viem to a chain on this machine. Each request has a connection of its own. After the machine stood still for
 * some seconds, the chain closes its idle connections. A transaction that is sent on such a connection is lost, because viem sends no
 * transaction twice.
 */
export function localTransport(rpcUrl: string, { signal }: { signal?: AbortSignal } = {}) {
  return http(rpcUrl, { fetchOptions: { headers: { connection: "close" }, ...(signal && { signal }) } });
}
