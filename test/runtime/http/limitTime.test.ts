import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect } from "chai";
import { limitTime } from "tallystick-runtime/http/limitTime";
import { converse, statusesOf } from "../../support/rawConnection.ts";

describe("a server with a slow client", () => {
  let server: Server;
  let port: number;
  beforeEach(async () => {
    server = createServer((request, response) => {
      request.resume().on("end", () => response.end("served"));
    });
    limitTime(server, 200);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => void server.close());

  it("disconnects a client that sends nothing, a part of a head, or a part of a body", async () => {
    const halves = [
      "",
      "GET / HTTP/1.1\r\nHost: a\r\nX: ",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf",
    ];
    for (const half of halves) {
      const answer = await converse(port, { parts: [half], listenMs: 60_000 });
      expect(answer.closed, half).to.equal(true);
      expect(answer.text).to.not.contain("served");
    }
    // A busy machine may need longer than the limit, so this client has more time. Node reads the limits at each look.
    Object.assign(server, { headersTimeout: 60_000, requestTimeout: 60_000 });
    const whole = await converse(port, {
      parts: ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
      listenMs: 60_000,
    });
    expect(statusesOf(whole)).to.deep.equal([200]);
  });

  it("disconnects a client that reads a large answer byte by byte, and sends all of it to a client that reads", async () => {
    const bytes = 32 * 1024 * 1024;
    const servers: Server[] = [];
    const open = async (limits: Parameters<typeof limitTime>[2]) => {
      const large = createServer((_, response) => response.end(Buffer.alloc(bytes)));
      servers.push(large);
      limitTime(large, 60_000, limits);
      await new Promise<void>((resolve) => large.listen(0, "127.0.0.1", resolve));
      const accepted = once(large, "connection");
      const socket = connect((large.address() as AddressInfo).port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      return { socket, served: ((await accepted) as [Socket])[0] };
    };
    try {
      const { socket: slow, served } = await open({ readMs: 200, bytesPerSecond: bytes });
      const reading = setInterval(() => slow.read(1), 20);
      slow.on("readable", () => {});
      await once(served, "close");
      clearInterval(reading);
      slow.destroy();
      let read = 0;
      for await (const chunk of (await open({})).socket) read += chunk.length;
      expect(read).to.be.above(bytes);
    } finally {
      for (const it of servers) {
        it.closeAllConnections();
        it.close();
      }
    }
  });

  it("allows half a minute for a request by default, and checks every second", () => {
    const other = createServer();
    limitTime(other);
    expect([other.headersTimeout, other.requestTimeout]).to.deep.equal([30_000, 30_000]);
    expect((other as { connectionsCheckingInterval?: number }).connectionsCheckingInterval).to.equal(1_000);
  });
});
