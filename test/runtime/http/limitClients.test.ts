import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect } from "chai";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { admittedOf, limitClients } from "tallystick-runtime/http/limitClients";

const AT_ONCE = 2;
const REQUESTS = 64;

describe("runtime/http/limitClients", () => {
  let server: Server;

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("serves other clients between fast requests of one client", async () => {
    let served = 0;
    server = createServer((request, response) => {
      served++;
      admittedOf(request)?.endTurn();
      response.end();
    });
    const limits = { pointsPerSecond: 1, burst: 10_000, atOnce: AT_ONCE, waiting: REQUESTS, streams: 1 };
    limitClients(server, { budgets: new ClientBudgets(limits, () => 0), trustedProxies: 0 });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const sockets = [];
    for (let n = 0; n < REQUESTS; n++) {
      const accepted = once(server, "connection");
      sockets.push(connect((server.address() as AddressInfo).port, "127.0.0.1"));
      await accepted;
    }

    // How many are served from one look at all connections to the next.
    let most = 0;
    let isOver = false;
    const beat = () => {
      most = Math.max(most, served - before);
      before = served;
      if (!isOver) setImmediate(beat);
    };
    let before = served;
    beat();
    const answers = sockets.map((socket) => once(socket, "data"));
    for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nhost: node\r\n\r\n");
    await Promise.all(answers);
    isOver = true;
    for (const socket of sockets) socket.destroy();
    expect(served).to.equal(REQUESTS);
    // Those that find a free turn, and those that are given one.
    expect(most).to.be.at.most(2 * AT_ONCE);
  });
});
