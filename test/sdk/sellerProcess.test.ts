import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { parseListing } from "tallystick-protocol/records/listing";
import { freePort } from "../../scripts/processes/freePort.ts";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { type Market, MEAN, openMarket, PURSE } from "./support/market.ts";
import { newWallet, type SdkChain, startSdkChain } from "./support/sdkChain.ts";

const PRICE = parseUsdc("0.05");
/** The key of the second account to which Hardhat gives ether. The process settles payments with it. */
const RELAY_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

describe("a seller that is killed", function () {
  this.timeout(600_000);
  let chain: SdkChain;
  let market: Market;
  const servers: Server[] = [];
  const children = new Set<ChildProcess>();
  before(async () => {
    chain = await startSdkChain();
    market = await openMarket(chain);
  });
  after(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
    await market.close();
    await chain.close();
  });

  const listen = async (fetch: (request: Request) => Response | Promise<Response>): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<AddressInfo>();
    servers.push(serve({ fetch, hostname: "127.0.0.1", port: 0 }, resolve) as Server);
    return `http://127.0.0.1:${(await promise).port}`;
  };

  /** Serves the chain of this process to other processes. */
  const answerRpc = async (request: Request): Promise<Response> => {
    const { id, method, params } = (await request.json()) as { id: number; method: string; params: [] };
    try {
      const result = await chain.client.request({ method, params } as never);
      return Response.json({ jsonrpc: "2.0", id, result });
    } catch (error) {
      const { message, data } = error as { message: string; data?: unknown };
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32_000, message, data } });
    }
  };

  it("while it works finishes the work after the restart, is paid once, and gets its receipt into the ledger", async () => {
    const wallet = newWallet();
    const port = await freePort();
    let isLedgerAway = true;
    const settings = {
      key: wallet.privateKey,
      relayKey: RELAY_KEY,
      port,
      network: chain.network,
      folder: `${market.folder}/killed`,
      rpcUrl: await listen(answerRpc),
      baseUrl: await listen((request) =>
        isLedgerAway ? new Response("away", { status: 503 }) : market.ledger.app.fetch(request),
      ),
    };
    const start = async (workMs: number, line: string) => {
      const args = nodeProgram("test/sdk/support/sellerProcess.ts", [
        JSON.stringify({ ...settings, workMs }),
      ]);
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      children.add(child);
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on("line", (text) => lines.push(text));
      const until = (wanted: string) =>
        waitUntil(async () => lines.includes(wanted), {
          what: `the seller to be ${wanted}`,
          withinMs: 120_000,
          everyMs: 20,
        });
      await until(line);
      return { child, until };
    };
    const kill = async ({ child }: { child: ChildProcess }) => {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    };
    const listing = parseListing({
      agent_id: wallet.address,
      capability: MEAN,
      price_usdc: "0.05",
      max_latency_ms: 240_000,
      endpoint: `http://127.0.0.1:${port}`,
    });
    const buyer = await market.openBuyer({ baseUrl: settings.baseUrl, fetch: globalThis.fetch });

    const first = await start(600_000, "listening");
    const order = {
      capability: MEAN,
      params: { data: [1, 2, 6] },
      maxPriceUsdc: "0.10",
      maxLatencyMs: 240_000,
    };
    const hiring = buyer.hire({ ...order, listing });
    await first.until("working");
    await kill(first);

    const second = await start(0, "working");
    const hire = await hiring;
    expect(hire.result).to.deep.equal({ result: 3 });
    expect(hire).to.include({ money: "paid", receiptHash: null });
    await kill(second);
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
    expect(await chain.balanceOf(wallet)).to.equal(PRICE);

    isLedgerAway = false;
    await start(0, "listening");
    const job = await waitUntil(
      async () => {
        const answer = await (await fetch(`http://127.0.0.1:${port}/jobs/${hire.jobId}`)).json();
        return answer.receipt_hash === null ? undefined : answer;
      },
      { what: "the receipt", withinMs: 120_000, everyMs: 50 },
    );
    expect(job).to.include({ status: "completed" });
    const entry = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=0&to=1")).text);
    expect(entry.current_hash).to.equal(job.receipt_hash);
    expect(entry.payload.body).to.include({ hire_id: hire.hireId, tx_hash: hire.tx });
    expect(await chain.balanceOf(wallet)).to.equal(PRICE);
  });
});
