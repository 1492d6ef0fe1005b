import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { networkInterfaces } from "node:os";
import { expect } from "chai";
import { limitSockets } from "tallystick-runtime/http/limitSockets";
import { converse, statusesOf } from "../../support/rawConnection.ts";

/** An address of this machine that the server treats as a stranger's. Only Linux has all addresses of 127.0.0.0/8. */
function strangersAddress(): string {
  if (process.platform === "linux") return "127.0.0.2";
  const all = Object.values(networkInterfaces()).flatMap((it) => it ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.2";
}

describe("runtime/http/limitSockets", () => {
  const localAddress = strangersAddress();
  let server: Server;
  let made = 0;
  let now = 0;

  beforeEach(async () => {
    server = createServer((_, response) => response.end());
    limitSockets(server, { trustedProxies: 0, now: () => now });
    made = 0;
    server.on("connection", () => made++);
    server.listen(0);
    await once(server, "listening");
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Opens connections one after another, and waits until the server has closed each of them. */
  async function openAndDrop(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const socket = connect({
        port: (server.address() as AddressInfo).port,
        host: localAddress,
        localAddress,
      });
      socket.on("error", () => {});
      socket.resume().end();
      await once(socket, "close");
    }
  }

  it("closes the connections of an address that opens too many, before Node makes sockets for them", async () => {
    await openAndDrop(300);
    expect(made).to.equal(256);
    now += 0.05;
    await openAndDrop(10);
    expect(made).to.equal(256 + 5);
    const own = await converse((server.address() as AddressInfo).port, {
      parts: ["GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"],
      listenMs: 60_000,
    });
    expect(statusesOf(own)).to.deep.equal([200]);
    now += 60;
    await openAndDrop(2);
    expect(made).to.equal(256 + 5 + 1 + 2);
  });
});
