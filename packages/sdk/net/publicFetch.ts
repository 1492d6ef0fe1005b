import { TallystickError } from "tallystick-protocol/errors";
import {
  addressProblem,
  hostOf,
  isAddressLiteral,
  isPublicAddress,
} from "tallystick-protocol/net/publicAddress";
import { Agent, buildConnector, fetch as undiciFetch } from "undici";
import type { Fetch } from "../requestService.ts";
import { resolveHost } from "./resolveHost.ts";

export type PublicFetchParameters = {
  /** Largest answer, in bytes after decompression. Default 32 MiB. */
  maxBytes?: number;
  /** How long one request may take to its last byte, in milliseconds. Default 10 minutes. */
  timeoutMs?: number;
  /** The addresses of a name. Default: by DNS. */
  resolve?: (host: string) => Promise<string[]>;
  /** Stands in for the policy where a test has to reach a server of its own. */
  policy?: { isPublic: (address: string) => boolean; problemOf: (url: string) => string | undefined };
};

/** How long a connection may take, in milliseconds. */
const CONNECT_MS = 10_000;

/** Most bytes of an answer's headers. */
const MAX_HEADER_BYTES = 32_768;

/**
 * A `fetch` for addresses that strangers gave: only https and public servers. A name is resolved once, every address it
 * resolves to has to be public, and the connection goes to one of these, so that no second answer of a name server leads
 * elsewhere. Redirects are not followed, proxies of the environment not used; size and time are limited.
 *
 * @throws TallystickError `private_address`, as the cause of the platform's TypeError when it comes out on connecting
 */
export function createPublicFetch(parameters: PublicFetchParameters = {}): Fetch {
  const { maxBytes = 32 * 1024 * 1024, timeoutMs = 600_000, resolve = resolveHost } = parameters;
  const { isPublic, problemOf } = parameters.policy ?? {
    isPublic: isPublicAddress,
    problemOf: addressProblem,
  };

  async function publicAddresses(host: string): Promise<{ address: string; family: number }[]> {
    const addresses = await resolve(host);
    if (addresses.length === 0) throw new Error(`${host} has no address`);
    if (!addresses.every(isPublic)) throw privateAddress(`${host} leads into a private network`);
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  }

  const connect = buildConnector({
    timeout: CONNECT_MS,
    lookup: (host, options, callback) => {
      publicAddresses(host).then(
        (found) => {
          const [first] = found;
          if (options.all) callback(null, found);
          else callback(null, first?.address ?? "", first?.family);
        },
        (error) => callback(error, []),
      );
    },
  });
  const agent = new Agent({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // A literal address is never looked up, so it is judged here; and here again, whatever led here.
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[|\]$/g, "");
      if (isAddressLiteral(host) && !isPublic(host)) callback(privateAddress(`${host} is private`), null);
      else connect(options, callback);
    },
  });

  return async (input, init) => {
    const problem = problemOf(input);
    if (problem) throw privateAddress(`${hostOf(new URL(input))} ${problem}`);
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const asked = { ...init, signal, redirect: "error", dispatcher: agent };
    const response = (await undiciFetch(input, asked as never)) as unknown as Response;
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

function privateAddress(message: string): TallystickError {
  return new TallystickError({
    code: "private_address",
    message,
    hint: "On a local network set devMode.",
  });
}
