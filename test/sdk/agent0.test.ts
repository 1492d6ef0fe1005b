import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { postFeedback } from "tallystick-sdk/erc8004/postFeedback";
import type { Posting } from "tallystick-sdk/erc8004/posting";
import { registerAgent } from "tallystick-sdk/erc8004/registerAgent";
import { type Deployer, deployRegistries } from "../support/deployRegistries.ts";
import { MEAN, mean, NODE } from "./support/market.ts";
import { useMarket } from "./support/useMarket.ts";

/**
 * AGENT0=1 installs agent0-sdk from npm into a new folder: 1,009 packages, 480 MB. AGENT0_FOLDER names a folder that
 * already has it. Because of this size agent0-sdk is not a dependency of this repository.
 */
const RUNS = process.env.AGENT0 === "1" || process.env.AGENT0_FOLDER !== undefined;
const VERSION = "1.7.1";

/** The parts of agent0-sdk that are used here. */
type Agent0 = {
  SDK: new (config: {
    chainId: number;
    rpcUrl: string;
    registryOverrides: { [chainId: number]: { IDENTITY: string; REPUTATION: string } };
  }) => {
    reputationRegistryAddress: () => string;
    loadAgent: (id: string) => Promise<{ name: string; description: string; mcpEndpoint?: string }>;
    getFeedback: (
      id: string,
      client: string,
      index: number,
    ) => Promise<{ value: number; tags: string[]; fileURI?: string; isRevoked: boolean }>;
  };
};

if (RUNS) {
  describe("agent0-sdk", function () {
    this.timeout(900_000);
    const { chain, market } = useMarket();
    const servers: Server[] = [];
    let folder = process.env.AGENT0_FOLDER ?? "";
    let isOwn = false;

    before(() => {
      if (folder !== "") return;
      isOwn = true;
      folder = mkdtempSync(path.join(tmpdir(), "tallystick-agent0-"));
      writeFileSync(path.join(folder, "package.json"), '{"private":true}');
      const args = ["install", `agent0-sdk@${VERSION}`, "--ignore-scripts", "--no-audit", "--no-fund"];
      execFileSync("npm", args, { cwd: folder, stdio: "ignore" });
    });
    after(() => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      if (isOwn) rmSync(folder, { recursive: true, force: true });
    });
    const listen = async (fetch: (request: Request) => Response | Promise<Response>): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<AddressInfo>();
      servers.push(serve({ fetch, hostname: "127.0.0.1", port: 0 }, resolve) as Server);
      return `http://127.0.0.1:${(await promise).port}`;
    };

    it("reads our agent and our feedback by RPC, unchanged", async () => {
      const rpcUrl = await listen(async (request) => {
        const { id, method, params } = (await request.json()) as { id: number; method: string; params: [] };
        try {
          return Response.json({
            jsonrpc: "2.0",
            id,
            result: await chain.client.request({ method, params } as never),
          });
        } catch (error) {
          return Response.json({ jsonrpc: "2.0", id, error: { code: -32_000, message: String(error) } });
        }
      });
      const publicUrl = await listen((request) =>
        market.fetch(NODE + new URL(request.url).pathname, request),
      );
      const { identity, reputation, fromBlock } = await deployRegistries(chain.client as unknown as Deployer);
      const { chainId } = chain.network;
      const registries = { chainId, identity, reputation, fromBlock };
      const listing = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
      const seller = await market.openSeller({ listings: [listing], handlers: { [MEAN]: mean } });
      const buyer = await market.openBuyer();
      for (const { address } of [seller.wallet, buyer.wallet])
        await chain.client.setBalance({ address, value: 10n ** 18n });
      const posting = (account: Posting["account"]): Posting => ({
        ...{ account, client: chain.client as never, registries, baseUrl: NODE, publicUrl, devMode: true },
        ...{
          ledger: "local",
          fetch: market.fetch,
          agree: () => true,
          now: () => Date.now() / 1000,
          pollingMs: 10,
        },
      });
      const first = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=0&to=1")).text);
      const registered = await registerAgent({
        ...posting(seller.wallet.account),
        ...{ name: "Mean", description: "Computes means.", knownBy: first.current_hash },
        hire: [{ endpoint: "https://seller.example/v1", capabilities: [MEAN] }],
        services: [{ name: "MCP", endpoint: "https://mcp.example/", version: "2025-06-18" }],
      });
      const order = { capability: MEAN, params: { data: [1] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
      const hire = await buyer.hire(order);
      const receiptHash = hire.receiptHash as string;
      await buyer.rate({ receiptHash, ratingToken: hire.ratingToken as string, stars: 4 });
      const { agentId } = registered;
      const posted = await postFeedback({
        ...posting(buyer.wallet.account),
        ...{ receiptHash, agentId, allowUnanchored: true },
      });

      const module = pathToFileURL(path.join(folder, "node_modules/agent0-sdk/dist/index.js")).href;
      const { SDK } = (await import(module)) as Agent0;
      const registryOverrides = { [chainId]: { IDENTITY: identity, REPUTATION: reputation } };
      const sdk = new SDK({ chainId, rpcUrl, registryOverrides });
      const agent = await sdk.loadAgent(`${chainId}:${agentId}`);
      expect(agent).to.include({
        name: "Mean",
        description: "Computes means.",
        mcpEndpoint: "https://mcp.example/",
      });
      // Version 1.7.1 knows its reputation registry only after this call.
      sdk.reputationRegistryAddress();
      const feedback = await sdk.getFeedback(`${chainId}:${agentId}`, buyer.wallet.address, 1);
      expect(feedback).to.deep.include({ value: 80, tags: ["starred", MEAN], isRevoked: false });
      expect(feedback.fileURI).to.equal(posted.uri);
    });
  });
}
