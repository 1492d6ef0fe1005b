import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { createPublicFetch } from "tallystick-sdk/net/publicFetch";
import { rejection } from "../support/tamper.ts";

/** Treats 127.0.0.1 as public and 127.0.0.2 as private, because a test can connect to both. */
const policy = { isPublic: (address: string) => address === "127.0.0.1", problemOf: () => undefined };

describe("a fetch for addresses that strangers give", () => {
  let port: number;
  let heard: string[];
  let answer: (response: ServerResponse) => void;
  const servers: Server[] = [];
  const listen = (host: string, at: number): Promise<number> =>
    new Promise((resolve) => {
      const server = createServer((request, response) => {
        heard.push(`${host} ${request.headers.host}`);
        answer(response);
      });
      servers.push(server);
      server.listen(at, host, () => resolve((server.address() as AddressInfo).port));
    });
  beforeEach(async () => {
    heard = [];
    answer = (response) => response.end("hello");
    port = await listen("127.0.0.1", 0);
    await listen("127.0.0.2", port);
  });
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Resolves names to these answers, one after the other. */
  const resolving = (...answers: string[][]) => {
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return answers[Math.min(asked.length, answers.length) - 1] ?? [];
    };
    return { asked, resolve };
  };
  const url = (host: string) => `http://${host}:${port}/`;
  const causeOf = (error: Error) => (error.cause ?? error) as { code?: string };

  it("connects to the checked address, even if the name has another address a moment later", async () => {
    const { asked, resolve } = resolving(["127.0.0.1"], ["127.0.0.2"]);
    const response = await createPublicFetch({ resolve, policy })(url("rebind.example"));
    expect(await response.text()).to.equal("hello");
    expect(asked).to.deep.equal(["rebind.example"]);
    expect(heard).to.deep.equal([`127.0.0.1 rebind.example:${port}`]);
  });

  it("refuses a name with a private address, even among public addresses, and a name without an address", async () => {
    for (const addresses of [["127.0.0.2"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.1", "::1"]]) {
      const { resolve } = resolving(addresses);
      const error = await rejection(createPublicFetch({ resolve, policy })(url("db.example")));
      expect(causeOf(error)).to.include({ code: "private_address" });
    }
    const error = await rejection(
      createPublicFetch({ resolve: async () => [], policy })(url("none.example")),
    );
    expect(String(error.cause)).to.contain("has no address");
    expect(heard).to.deep.equal([]);
  });

  it("refuses a literal private address, which needs no look-up", async () => {
    const error = await rejection(createPublicFetch({ policy })(url("127.0.0.2")));
    expect(causeOf(error)).to.include({ code: "private_address" });
    expect(heard).to.deep.equal([]);
  });

  it("follows no redirect", async () => {
    answer = (response) => response.writeHead(302, { location: url("127.0.0.2") }).end();
    await rejection(createPublicFetch({ policy })(url("127.0.0.1")));
    expect(heard).to.have.length(1);
  });

  it("reads at most its limit, counted after decompression", async () => {
    const fetch = createPublicFetch({ policy, maxBytes: 1_000 });
    answer = (response) => response.end("x".repeat(1_000));
    expect((await (await fetch(url("127.0.0.1"))).text()).length).to.equal(1_000);
    answer = (response) => response.end("x".repeat(1_001));
    expect((await rejection((await fetch(url("127.0.0.1"))).text())).message).to.contain("larger than 1000");
    answer = (response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(1_000_000)));
    expect((await rejection((await fetch(url("127.0.0.1"))).text())).message).to.contain("larger than 1000");
  });

  it("waits at most its limit, for headers and for bodies", async () => {
    const fetch = createPublicFetch({ policy, timeoutMs: 300 });
    answer = () => {};
    expect((await rejection(fetch(url("127.0.0.1")))).name).to.equal("TimeoutError");
    answer = (response) => response.write("he");
    // On a busy machine the time may be over before the headers.
    const body = fetch(url("127.0.0.1")).then((it) => it.text());
    expect((await rejection(body)).name).to.equal("TimeoutError");
  });

  it("refuses a URL that breaks the policy, before any look-up or request", async () => {
    const { asked, resolve } = resolving(["127.0.0.1"]);
    for (const text of [
      url("agent.example"),
      "https://localhost../",
      "https://[::ffff:0:127.0.0.1]/",
      "https://2130706433/",
    ]) {
      expect(await rejection(createPublicFetch({ resolve })(text)), text).to.include({
        code: "private_address",
      });
    }
    expect(asked).to.deep.equal([]);
  });
});
