/**
 * A `fetch` for viem's `http`, with a time limit for the whole answer. viem's own limit ends with the headers, so an RPC
 * that sends headers and then one byte after the other would be waited for forever.
 */
export function fetchWithin(ms: number): typeof fetch {
  return (input, init) => {
    const limit = AbortSignal.timeout(ms);
    const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit;
    return fetch(input, { ...init, signal });
  };
}
