import { isAddressLiteral } from "tallystick-protocol/net/publicAddress";
import { Agent, buildConnector, fetch } from "undici";
import { type OpenConnections, privateAddress } from "./connections.ts";
import { resolveHost } from "./resolveHost.ts";

/** How long a connection may take, in milliseconds. */
const CONNECT_MS = 10_000;

/** The most bytes of an answer's headers. */
const MAX_HEADER_BYTES = 32_768;

/**
 * Connections of Node. A name is resolved once, every address of it must be public, and the connection goes to
 * one of these addresses. So a second answer of the name server cannot lead elsewhere. Proxy settings of the
 * environment are not used.
 */
export const openConnections: OpenConnections = ({ isPublic, resolve = resolveHost, timeoutMs }) => {
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
    // An IP address in a URL is never looked up, so it is checked here. It is checked for every connection.
    connect: (options, callback) => {
      const host = options.hostname.replace(/^\[|\]$/g, "");
      if (isAddressLiteral(host) && !isPublic(host)) callback(privateAddress(`${host} is private`), null);
      else connect(options, callback);
    },
  });
  return async (input, init) =>
    (await fetch(input, { ...init, dispatcher: agent } as never)) as unknown as Response;
};
