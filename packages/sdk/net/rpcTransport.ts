import { type HttpTransport, type HttpTransportConfig, http } from "viem";

/** How long one answer of an RPC may take to its last byte, in milliseconds. */
const RPC_MS = 10_000;

/**
 * viem's `http`, with a time limit for the whole answer. viem's own limit ends with the headers. So an RPC, or a proxy
 * in front of it, could send headers and then one byte after the other, and the caller would wait forever.
 *
 * @param options.timeout milliseconds to the last byte of one answer. Default 10,000
 */
export function rpcTransport(
  url: string,
  options: Pick<HttpTransportConfig, "timeout" | "retryCount" | "retryDelay"> = {},
): HttpTransport {
  const { timeout = RPC_MS } = options;
  return http(url, {
    ...options,
    timeout,
    fetchFn: (input, init) => {
      const limit = AbortSignal.timeout(timeout);
      const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit;
      return fetch(input, { ...init, signal });
    },
  });
}
