import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import { Command } from "commander";
import { registerCheckPortal } from "../../tools/commands/checkPortal.ts";

describe("check-portal", () => {
  it("refuses a node that does not serve the portal, before it measures", async () => {
    let asked = 0;
    const server = createAdaptorServer({
      fetch: () => {
        asked++;
        return new Response("<title>A node without a portal</title>", {
          headers: { "content-type": "text/html" },
        });
      },
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const program = new Command().exitOverride();
    registerCheckPortal(program);
    try {
      const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const error = await program
        .parseAsync(["node", "tallystick", "check-portal", "--node", node])
        .catch((cause) => cause);
      expect(error).to.include({ code: "no_portal" });
      expect(asked).to.equal(1);
    } finally {
      await new Promise<void>((closed) => {
        server.close(() => closed());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    }
  });
});
