import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { serveSearch } from "../../mcp/support/openMcp.ts";
import { MEAN, mean, NODE } from "../../sdk/support/market.ts";
import { withBody } from "../../sdk/support/tamper.ts";
import { newPurse, useMarket } from "../../sdk/support/useMarket.ts";

const PRICE = parseUsdc("0.05");

describe("tallystick hire", function () {
  this.slow(20_000);
  const { chain, market } = useMarket();
  let servers: Server[];
  let purse: Awaited<ReturnType<typeof newPurse>>;
  let environment: { [name: string]: string };
  /** The seller waits for this before it works. */
  let start: Promise<void>;
  /** Changes an answer of the seller on its way. */
  let deliver: (answer: Response) => Response | Promise<Response>;
  /** Resolves when the seller begins to work. */
  let begun: PromiseWithResolvers<void>;

  beforeEach(async () => {
    servers = [];
    start = Promise.resolve();
    deliver = (answer) => answer;
    begun = Promise.withResolvers();
    serveSearch(market);
    purse = await newPurse(chain);
    let app: { fetch: (request: Request) => Response | Promise<Response> } | undefined;
    const endpoint = await listen(async (request) =>
      deliver((await app?.fetch(request)) ?? new Response("", { status: 503 })),
    );
    const seller = await market.openSeller({
      endpoint,
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 60_000 }],
      handlers: {
        [MEAN]: async (params) => {
          begun.resolve();
          await start;
          return mean(params);
        },
      },
    });
    app = seller.app;
    environment = {
      NO_COLOR: "1",
      TALLYSTICK_URL: await listen((request) => market.fetch(NODE + new URL(request.url).pathname, request)),
      TALLYSTICK_PRIVATE_KEY: purse.privateKey,
      TALLYSTICK_LEDGER: "local",
      TALLYSTICK_CHAIN_ID: String(chain.network.chainId),
      TALLYSTICK_TOKEN: chain.token,
      TALLYSTICK_RPC_URL: await listen(answerRpc),
      TALLYSTICK_DEV_MODE: "1",
      TALLYSTICK_STATE_DIR: path.join(market.folder, "state"),
      TALLYSTICK_SPEND_CAP_USDC: "0.10",
    };
  });
  afterEach(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  const listen = async (fetch: (request: Request) => Response | Promise<Response>): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<AddressInfo>();
    servers.push(serve({ fetch, hostname: "127.0.0.1", port: 0 }, resolve) as Server);
    return `http://127.0.0.1:${(await promise).port}`;
  };
  /** Answers RPC requests of other processes from the chain of this process. */
  const answerRpc = async (request: Request): Promise<Response> => {
    const { id, method, params } = (await request.json()) as { id: number; method: string; params: [] };
    const result = await chain.client.request({ method, params } as never);
    return Response.json({ jsonrpc: "2.0", id, result });
  };
  const run = (...args: string[]) => runUntil(undefined, ...args);
  /** Runs the command, and sends SIGINT, as Ctrl-C does, at `moment`. */
  async function runUntil(
    moment: Promise<void> | undefined,
    ...args: string[]
  ): Promise<{ code: number; out: string; err: string }> {
    const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", ["hire", ...args]), {
      env: childEnvironment(environment),
    });
    const [out, err] = [child.stdout, child.stderr].map(async (stream) => {
      let text = "";
      for await (const chunk of stream) text += chunk;
      return text;
    });
    void moment?.then(() => child.kill("SIGINT"));
    const [code] = await once(child, "close");
    return { code, out: (await out) ?? "", err: (await err) ?? "" };
  }
  const order = [MEAN, "--params", '{"data":[1,2,6]}', "--max-price", "0.10", "--max-latency", "60000"];

  it("hires, verifies and pays; the same call again is the same hire and pays nothing", async () => {
    const first = await run(...order, "--json");
    expect(first.code, first.err).to.equal(0);
    expect(first.err).to.contain("Asking a seller for its terms");
    const hired = JSON.parse(first.out);
    expect(hired).to.deep.include({
      status: "done",
      money: "paid",
      price_paid_usdc: "0.05",
      repeated: false,
    });
    expect(hired).to.deep.include({ result: { result: 3 } });
    expect(hired.verification.all_passed).to.equal(true);

    const again = await run(...order);
    expect([again.code, again.err]).to.deep.equal([0, ""]);
    expect(again.out).to.contain(hired.hire_id).and.to.contain("nothing was paid by this call");
    expect(await purse.paid()).to.equal(PRICE);
  });

  it("exits with 1 if the result is not verified, although the hire was paid", async () => {
    deliver = async (answer) =>
      answer.status === 200
        ? await withBody(answer, (body) => ("result" in body ? { ...body, result: { result: 1e9 } } : body))
        : answer;
    const { code, out, err } = await run(...order, "--json");
    const hired = JSON.parse(out);
    expect(hired, err).to.deep.include({ status: "done", result: { result: 1e9 } });
    expect([hired.verification.all_passed, code]).to.deep.equal([false, 1]);
    expect(await purse.paid()).to.equal(PRICE);
  });

  it("can be completed by --resume after Ctrl-C during the seller's work; nothing is paid twice", async () => {
    const go = Promise.withResolvers<void>();
    start = go.promise;
    const left = await runUntil(begun.promise, ...order, "--json");
    expect(left.code, left.err).to.equal(75);
    const handle = JSON.parse(left.out);
    expect(handle).to.include({ status: "running", money: "authorized" });
    go.resolve();
    const resumed = await run("--resume", "--json");
    expect(resumed.code, resumed.err).to.equal(0);
    const [hire] = JSON.parse(resumed.out).hires;
    expect(hire).to.deep.include({
      status: "done",
      hire_id: handle.hire_id,
      money: "paid",
      result: { result: 3 },
    });
    expect(await purse.paid()).to.equal(PRICE);
    const nothing = await run("--resume");
    expect([nothing.code, nothing.out]).to.deep.equal([0, "This wallet has no open hire on this chain.\n"]);
  });

  it("names --resume, which pays nothing new at any time, as the way to finish a hire", async () => {
    const go = Promise.withResolvers<void>();
    start = go.promise;
    const left = await runUntil(begun.promise, ...order);
    expect(left.code, left.err).to.equal(75);
    expect(left.out).to.contain("run `tallystick hire --resume`.").and.not.to.contain("again");
    go.resolve();
    expect((await run("--resume")).code).to.equal(0);
  });

  it("reports what is missing or refused, and pays nothing", async () => {
    environment.TALLYSTICK_SPEND_CAP_USDC = "0.01";
    const [priceless, capped] = await Promise.all([run(MEAN), run(...order)]);
    expect(priceless.code).to.equal(1);
    expect(priceless.err).to.contain("--max-price");
    expect([capped.code, capped.err.includes("budget_exceeded")], capped.err).to.deep.equal([1, true]);
    // The limit for one hire applies also if the cap would allow more.
    Object.assign(environment, { TALLYSTICK_SPEND_CAP_USDC: "1.00", TALLYSTICK_MAX_PER_HIRE_USDC: "0.09" });
    const limited = await run(...order);
    expect([limited.code, limited.err.includes("above_limit_per_hire")], limited.err).to.deep.equal([
      1,
      true,
    ]);
    expect(await purse.paid()).to.equal(0n);
  });
});
