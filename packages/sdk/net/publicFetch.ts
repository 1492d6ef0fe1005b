import { addressProblem, hostOf, isPublicAddress } from "tallystick-protocol/net/publicAddress";
import { openConnections } from "#connections";
import type { Fetch } from "../requestService.ts";
import { privateAddress } from "./connections.ts";

export type PublicFetchParameters = {
  /** The largest answer, in bytes after decompression. Default 32 MiB. */
  maxBytes?: number;
  /** How long one request may take to its last byte, in milliseconds. Default 10 minutes. */
  timeoutMs?: number;
  /** Resolves a name to its addresses. Default: by DNS. Not used in browsers. */
  resolve?: (host: string) => Promise<string[]>;
  /** Replaces the rules, for tests that reach a server of their own. */
  policy?: { isPublic: (address: string) => boolean; problemOf: (url: string) => string | undefined };
};

/**
 * A `fetch` for URLs that strangers gave. It allows only https and public servers. In Node the resolved address
 * is checked when the connection is made. A browser resolves names itself, so there only the URL is checked,
 * and the browser keeps pages out of private networks. Redirects are not followed. Size and time are limited.
 *
 * @throws TallystickError `private_address`, as the cause of the platform's TypeError if the check fails while
 * connecting
 */
export function createPublicFetch(parameters: PublicFetchParameters = {}): Fetch {
  const { maxBytes = 32 * 1024 * 1024, timeoutMs = 600_000, resolve } = parameters;
  const { isPublic, problemOf } = parameters.policy ?? {
    isPublic: isPublicAddress,
    problemOf: addressProblem,
  };
  const fetch = openConnections({ isPublic, resolve, timeoutMs });

  return async (input, init) => {
    const problem = problemOf(input);
    const url = URL.parse(input);
    if (problem) throw privateAddress(`${url === null ? "the address" : hostOf(url)} ${problem}`);
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await fetch(input, { ...init, signal, redirect: "error" });
    const { status, statusText, headers } = response;
    const hasBody = response.body !== null && ![101, 204, 205, 304].includes(status);
    const body = hasBody ? response.body?.pipeThrough(atMost(maxBytes)) : null;
    return new Response(body, { status, statusText, headers: [...headers] });
  };
}

function atMost(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > maxBytes) controller.error(new Error(`the answer is larger than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
