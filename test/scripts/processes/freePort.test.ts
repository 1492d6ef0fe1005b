import { once } from "node:events";
import { createServer } from "node:net";
import { expect } from "chai";
import { freePort, isPortFree } from "../../../scripts/processes/freePort.ts";

describe("scripts/processes/freePort", () => {
  it("gives a free port, and notices when it is taken", async () => {
    const port = await freePort();
    expect(await isPortFree(port)).to.equal(true);
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    expect(await isPortFree(port)).to.equal(false);
    server.close();
    await once(server, "close");
    expect(await isPortFree(port)).to.equal(true);
  });
});
