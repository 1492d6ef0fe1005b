import https from "node:https";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { expect } from "chai";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { ask, MAX_BODY_BYTES, NoAnswer, type Question } from "../../services/probing/net/ask.ts";
import { testUplink } from "../../services/probing/net/testUplink.ts";
import { testCertificate } from "../../tools/bench/prober/testCertificate.ts";

const signal = new AbortController().signal;
const headers = { "user-agent": "tallystick-prober/1.0 (+probes@example.com)" };
const question = (changes: Partial<Question>): Question => ({
  url: "http://seller.example/hire",
  address: "127.3.0.1",
  headers,
  timeoutMs: 10_000,
  signal,
  ...changes,
});

/** The reason why a request got no answer. */
const reasonOf = async (changes: Partial<Question>): Promise<string> => {
  const error = await ask(question(changes)).catch((caught: unknown) => caught);
  return error instanceof NoAnswer ? error.reason : String(error);
};

describe("a request of a prober", () => {
  const open: { close: () => void }[] = [];
  const sockets = new Set<Socket>();

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of open.splice(0)) server.close();
  });

  async function serve(onSocket: (socket: Socket) => void): Promise<number> {
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      onSocket(socket);
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.3.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }
  const says = (text: string) => serve((socket) => socket.once("data", () => socket.end(text)));

  it("goes to the checked address, without a new DNS lookup", async () => {
    // DNS has no address for seller.example. The request still has this name as its host.
    let host: string | undefined;
    const port = await serve((socket) =>
      socket.once("data", (data) => {
        host = /^host: (.*)$/im.exec(String(data))?.[1];
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      }),
    );
    const answer = await ask(question({ url: `http://seller.example:${port}/hire` }));
    expect({ status: answer.status, text: answer.text, host }).to.deep.equal({
      status: 200,
      text: "{}",
      host: `seller.example:${port}`,
    });
    expect(await reasonOf({ url: `http://seller.example:${port}/hire`, address: "127.3.0.2" })).to.equal(
      "unreachable",
    );
    // The request goes to the checked address, not to the IP address in the URL.
    expect(await reasonOf({ url: `http://127.3.0.1:${port}/hire`, address: "127.3.0.2" })).to.equal(
      "unreachable",
    );
  });

  it("refuses a self-signed certificate and a certificate for another name", async () => {
    const server = https.createServer(testCertificate, (_request, response) => response.end("{}"));
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.3.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `https://seller.example:${port}/hire`;
    expect(await reasonOf({ url })).to.equal("broken");
    const { cert: ca } = testCertificate;
    expect(await ask(question({ url, ca }))).to.have.property("status", 200);
    expect(await reasonOf({ url: `https://other.example:${port}/hire`, ca })).to.equal("broken");
    expect(await reasonOf({ url: `http://seller.example:${port}/hire` })).to.equal("broken");
  });

  it("reads a limited part of a body, for a limited time", async () => {
    const endless = await serve((socket) => {
      socket.write("HTTP/1.1 402 Payment Required\r\n\r\n");
      const more = (): void => {
        while (!socket.destroyed && socket.write("x".repeat(16_384)));
      };
      socket.on("drain", more);
      more();
    });
    const cut = await ask(question({ url: `http://seller.example:${endless}/` }));
    expect({ isCut: cut.isCut, length: cut.text.length }).to.deep.equal({
      isCut: true,
      length: MAX_BODY_BYTES,
    });

    const silent = await serve(() => {});
    const half = await serve((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"));
    const dripping = await serve((socket) => {
      const timer = setInterval(() => socket.write("H"), 1);
      socket.on("close", () => clearInterval(timer));
    });
    for (const port of [silent, half])
      expect(await reasonOf({ url: `http://seller.example:${port}/`, timeoutMs: 50 })).to.equal("late");
    expect(await reasonOf({ url: `http://seller.example:${dripping}/` })).to.equal("broken");
  });

  it("treats invalid HTTP, or a broken connection, as no answer", async () => {
    const texts = [
      "",
      "SSH-2.0-OpenSSH\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
    ];
    for (const text of texts)
      expect(
        await reasonOf({ url: `http://seller.example:${await says(text)}/` }),
        text.slice(0, 40),
      ).to.equal("broken");
  });

  it("does not follow redirects, and ends when it is aborted", async () => {
    const port = await says(
      "HTTP/1.1 302 Found\r\nlocation: http://127.99.0.1/\r\ncontent-length: 0\r\n\r\n",
    );
    expect(await ask(question({ url: `http://seller.example:${port}/` }))).to.have.property("status", 302);
    const silent = await serve(() => {});
    const stop = new AbortController();
    const waiting = reasonOf({ url: `http://seller.example:${silent}/`, signal: stop.signal });
    stop.abort(new Error("stopped"));
    expect(await waiting).to.equal("Error: stopped");
  });

  it("finds that the prober's own uplink works if any known host accepts a connection", async () => {
    const port = await serve((socket) => socket.destroy());
    const found = async (host: string) =>
      host === "known.example" ? { addresses: ["127.3.0.1"] } : ({ refused: "no_address" } as const);
    // A process that is stopped for five seconds runs the timer of its connection first.
    const isThere = () => testUplink([`gone.example:443`, `known.example:${port}`], found);
    await waitUntil(isThere, { what: "the uplink", withinMs: 60_000 });
    expect(await testUplink(["gone.example:443"], found)).to.equal(false);
    for (const server of open.splice(0)) server.close();
    expect(await testUplink([`known.example:${port}`], found)).to.equal(false);
  });
});
