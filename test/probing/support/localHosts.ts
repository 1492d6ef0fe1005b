import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { requiredHeaders } from "tallystick-sdk/x402/paymentHeaders";
import type { Policy } from "../../../services/probing/net/policy.ts";

/** How a host answers an unpaid hire. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, payTo: string) => void;

/** The headers of an answer 402 whose terms pay this account. */
export const terms = (payTo: string) =>
  requiredHeaders({
    x402Version: 2,
    resource: { url: "http://seller.example/hire" },
    accepts: [
      {
        scheme: "exact",
        network: "eip155:31337",
        asset: `0x${"07".repeat(20)}`,
        amount: "50000",
        payTo,
        maxTimeoutSeconds: 60,
        extra: {},
      },
    ],
  } as never);

export const behaviours = {
  good: (_request, response, payTo) => void response.writeHead(402, terms(payTo)).end("{}"),
  failing: (_request, response) => void response.writeHead(500).end("no"),
  page: (_request, response) => void response.writeHead(200).end("<html>hello</html>"),
  broken: (request) => void request.socket.destroy(),
  hanging: () => {},
  dripping: (request) => {
    const { socket } = request;
    socket.write("HTTP/1.1 402 Payment Required\r\n");
    const timer = setInterval(() => socket.write("x"), 5);
    socket.on("close", () => clearInterval(timer)).on("error", () => {});
  },
  endless: (request, response) => {
    response.writeHead(402);
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(16_384)));
    };
    response.on("drain", more).on("error", () => {});
    request.socket.on("error", () => {});
    more();
  },
  redirecting: (_request, response) =>
    void response.writeHead(302, { location: "http://127.99.0.1:1/hire" }).end(),
  lying: (_request, response) => void response.writeHead(402, terms(`0x${"66".repeat(20)}`)).end("{}"),
} satisfies { [name: string]: Behaviour };

/** A request that a host got: the host's address, and the request's content. */
export type Hit = {
  address: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
  params: object;
};

export type LocalHosts = {
  port: number;
  hits: Hit[];
  /** Sets the behaviour of an address. Addresses without a behaviour answer 404. */
  set: (address: string, behaviour: Behaviour) => void;
  /** The robots.txt of each address. An address without one answers 404. */
  robots: Map<string, string>;
  close: () => Promise<void>;
};

/** Starts one server for all addresses of 127/8, so that each address is a host. */
export async function openLocalHosts(): Promise<LocalHosts> {
  const hits: Hit[] = [];
  const robots = new Map<string, string>();
  const all = new Map<string, Behaviour>();
  const server: Server = createServer(async (request, response) => {
    // This is read before the first `await`, because the socket may be closed afterwards.
    const address = request.socket.localAddress ?? "";
    const pieces: Buffer[] = [];
    request.on("error", () => {});
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString("utf8");
    const hire = (body === "" ? {} : JSON.parse(body)) as { seller_id?: string; params?: object };
    const { seller_id: payTo = "", params = {} } = hire;
    hits.push({ address, path: request.url ?? "", headers: request.headers, body, params });
    if (request.url === "/robots.txt") {
      const text = robots.get(address);
      return response.writeHead(text === undefined ? 404 : 200).end(text ?? "");
    }
    const behaviour = all.get(address);
    if (behaviour === undefined) return response.writeHead(404).end();
    return behaviour(request, response, payTo);
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    robots,
    set: (address, behaviour) => void all.set(address, behaviour),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Allows only loopback addresses. It treats 127.99 as a private network. */
export const loopbackPolicy: Policy = {
  problemOf: (url) => (URL.parse(url)?.protocol === "http:" ? undefined : "must begin with http://"),
  isPublic: (address) => address.startsWith("127.") && !address.startsWith("127.99."),
};
