import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { answerProbes } from "../../../indexer/api/databaseAway.ts";

describe("the probes of a node", () => {
  let server: Server;
  afterEach(() => server.close());

  it("are answered without the app, so that a flood of probes costs little", async () => {
    let served = 0;
    server = createServer((_, response) => {
      served++;
      response.writeHead(404).end();
    });
    answerProbes(server, { isAway: true, isReady: true, status: {} });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const statuses: number[] = [];
    for (const path of ["/health?x", "/ready", "/status", "/other"]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } });
      await response.text();
      statuses.push(response.status);
    }
    // The process is healthy also while its database is away.
    expect(statuses).to.deep.equal([200, 503, 503, 404]);
    expect(served).to.equal(1);
  });
});
