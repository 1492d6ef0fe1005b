import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient, http } from "viem";
import { fetchWithin } from "../../../indexer/fetchWithin.ts";
import { rejection } from "../support/tamper.ts";

/** Milliseconds for one answer. */
const ANSWER_MS = 1_000;

describe("the transport to an RPC", () => {
  let server: Server;
  let url: string;
  /** How often the client asked. On a busy machine a request may be given up before the server gets it. */
  let asked = 0;
  const { fetch } = globalThis;
  let answer: (response: ServerResponse) => void;
  const timers: NodeJS.Timeout[] = [];

  before(async () => {
    server = createServer(async (request, response) => {
      for await (const _ of request) {
        // The request is read to its end.
      }
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // The first request of a process loads the client, and that time must not count.
    answer = (response) => response.end();
    await (await fetch(url)).text();
  });
  beforeEach(() => {
    asked = 0;
    globalThis.fetch = (...given) => {
      asked++;
      return fetch(...given);
    };
  });
  afterEach(() => {
    globalThis.fetch = fetch;
    for (const timer of timers.splice(0)) clearInterval(timer);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Sends headers at once, and then a space every 50 ms. */
  const drip = (response: ServerResponse): void => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"jsonrpc":"2.0",');
    timers.push(setInterval(() => response.write(" "), 50));
  };

  it("gives up on an RPC that sends headers and never ends its answer, and asks again as often as it was told", async () => {
    answer = drip;
    const transport = rpcTransport(url, { timeout: ANSWER_MS, retryCount: 1, retryDelay: 1 });
    const error = await rejection(createPublicClient({ transport }).getChainId());
    expect(error.name).to.be.oneOf(["HttpRequestError", "TimeoutError"]);
    expect(asked).to.equal(2);
  });

  it("gives up in the indexer, too", async () => {
    answer = drip;
    const limits = { timeout: ANSWER_MS, retryCount: 0, fetchFn: fetchWithin(ANSWER_MS) };
    await rejection(createPublicClient({ transport: http(url, limits) }).getChainId());
    expect(asked).to.equal(1);
  });

  it("gives the answer of an RPC that is in time", async () => {
    answer = (response) => response.end('{"jsonrpc":"2.0","id":1,"result":"0x2105"}');
    const client = createPublicClient({ transport: rpcTransport(url, { timeout: 60_000 }) });
    expect(await client.getChainId()).to.equal(8453);
  });
});
