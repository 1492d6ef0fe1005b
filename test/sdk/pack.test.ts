import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type PackedSdk, packSdk, SDK_PACKAGE } from "../../tools/pack/packSdk.ts";
import { type Market, MEAN, mean, openMarket } from "./support/market.ts";
import { newWallet, type SdkChain, startSdkChain } from "./support/sdkChain.ts";

describe("npm run pack:sdk", function () {
  this.timeout(180_000);
  let folder: string;
  let packed: PackedSdk;
  let installed: string;
  let chain: SdkChain;
  let market: Market;
  const servers: Server[] = [];

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-pack-test-"));
    packed = await packSdk(folder);
    installed = path.join(folder, "app/node_modules", SDK_PACKAGE);
    mkdirSync(installed, { recursive: true });
    const tar = ["-xzf", packed.file, "-C", installed, "--strip-components", "1"];
    expect(spawnSync("tar", tar).status).to.equal(0);
    // What npm would fetch is linked: these tests need no network.
    for (const name of Object.keys(packed.dependencies)) {
      const link = path.join(folder, "app/node_modules", name);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(path.join(repositoryRoot, "node_modules", name), link);
    }
    chain = await startSdkChain();
    market = await openMarket(chain);
  });
  after(async () => {
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
    await market.close();
    await chain.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const listen = async (fetch: (request: Request) => Response | Promise<Response>): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<AddressInfo>();
    servers.push(serve({ fetch, hostname: "127.0.0.1", port: 0 }, resolve) as Server);
    return `http://127.0.0.1:${(await promise).port}`;
  };

  it("makes one tarball without a node's parts, whose types and scripts lead nowhere but into it", () => {
    expect(readdirSync(folder).filter((name) => name.endsWith(".tgz"))).to.have.length(1);
    const names = Object.keys(packed.dependencies);
    expect(names).to.include.members(["viem", "zod", "hono", "@x402/core"]);
    expect(
      names.filter((name) => /ponder|hardhat|nomicfoundation|drizzle|^pg$|tsx/.test(name)),
    ).to.deep.equal([]);
    const files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(js|ts)$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name));
    expect(files.some((file) => file.includes("examples"))).to.equal(false);
    for (const file of files) {
      for (const [, to = ""] of readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"/g)) {
        const target = path.resolve(path.dirname(file), to);
        const wanted = file.endsWith(".d.ts") ? target.replace(/\.js$/, ".d.ts") : target;
        expect(existsSync(wanted), `${file} imports ${to}`).to.equal(true);
        expect(wanted.startsWith(installed)).to.equal(true);
      }
    }
  });

  it("buys from a node, installed in an empty folder and run by plain Node", async () => {
    const wallet = newWallet();
    await chain.mint(wallet, 1_000_000n);
    const door = { fetch: (_: Request): Response | Promise<Response> => new Response(null, { status: 503 }) };
    const endpoint = await listen((request) => door.fetch(request));
    const seller = await market.openSeller({
      endpoint,
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 5_000 }],
      handlers: { [MEAN]: mean },
    });
    door.fetch = (request) => seller.app.fetch(request);
    const baseUrl = await listen(async (request) => {
      if (!request.url.endsWith("/v1/search")) return await market.ledger.app.fetch(request);
      const { agents } = await market.search.search(await request.json());
      return Response.json({ agents, next_cursor: null });
    });
    writeFileSync(
      path.join(folder, "app/buy.mjs"),
      `import { once } from "node:events";
       import { Worker } from "node:worker_threads";
       import { privateKeyToAccount } from "viem/accounts";
       import { memoryBudget } from "${SDK_PACKAGE}/budget/budget";
       import { createBuyer } from "${SDK_PACKAGE}/createBuyer";
       import { formatUsdc } from "${SDK_PACKAGE}/protocol/amount";
       const [baseUrl, key, network] = process.argv.slice(2);
       const buyer = createBuyer({ account: privateKeyToAccount(key), baseUrl, network: JSON.parse(network),
         budget: memoryBudget(100_000n), devMode: true });
       const { result, money, amount, verification, ratingToken } = await buyer.hire({ capability: "${MEAN}",
         params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 20_000 });
       const worker = new Worker(new URL(import.meta.resolve("${SDK_PACKAGE}/verification/verificationWorker")));
       const [worker_says] = await once(worker, "message");
       await worker.terminate();
       console.log(JSON.stringify({ worker_says, result, money, price: formatUsdc(amount), passed: verification.all_passed, ratingToken }));`,
    );
    const args = ["buy.mjs", baseUrl, wallet.privateKey, JSON.stringify(chain.network)];
    const child = spawn(process.execPath, args, {
      cwd: path.join(folder, "app"),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect(errors).to.equal("");
    const bought = JSON.parse(out);
    expect(bought).to.deep.include({
      result: { result: 3 },
      money: "authorized",
      price: "0.05",
      passed: true,
    });
    expect(bought.ratingToken).to.match(/^rtt_/);
    // What verifies results starts as a worker of the package's own file.
    expect(bought.worker_says).to.equal("ready");
    expect(await chain.balanceOf(wallet)).to.equal(1_000_000n - parseUsdc("0.05"));
    expect(await chain.balanceOf(seller.wallet)).to.equal(parseUsdc("0.05"));
  });
});
