import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { readInPieces } from "tallystick-runtime/http/readInPieces";

describe("runtime/http/readInPieces", () => {
  it("reads one piece in each turn from all connections of an IPv6 network together", async () => {
    const server = new EventEmitter() as Server;
    readInPieces(server, { isProxied: false });
    const addresses = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"];
    const read = addresses.map(() => 0);
    const connections = addresses.map((remoteAddress, n) => {
      const connection = Object.assign(new Duplex({ read() {} }), { remoteAddress });
      server.emit("connection", connection);
      return connection.on("data", ({ length }: Buffer) => {
        read[n] = (read[n] ?? 0) + length;
      });
    });
    await turn();
    for (const connection of connections) connection.push(Buffer.alloc(8_192));
    await turn();
    expect(read).to.deep.equal([4_096, 0, 4_096]);
    await turn();
    expect(read).to.deep.equal([4_096, 4_096, 8_192]);
  });
});
