import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type PackedPackage, packPackages } from "../../tools/pack/packPackages.ts";
import { EventLog, HOUR, TOKEN, wallet } from "../derive/eventLog.ts";
import { type Market, openMarket } from "../sdk/support/market.ts";
import { newWallet, type SdkChain, startSdkChain } from "../sdk/support/sdkChain.ts";
import { fetchPackages, type Installed, linkPackages, run } from "./support/installPackages.ts";

/** Whether to get all dependencies, and Node 22 and 24, from npm. Otherwise the tests link the installed packages. */
const FETCHES = process.env.PACK_FETCH === "1";

/** The TypeScript snippets of a page. Their names have their numbers: `sdk-1`. */
function snippetsOf(file: string, name: string): { [snippet: string]: string } {
  const page = readFileSync(path.join(repositoryRoot, file), "utf8");
  const found = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""], at) => [
    `${name}-${at + 1}`,
    code,
  ]);
  return Object.fromEntries(found);
}

const ROOMS = ["protocol", "derive", "capabilities", "sdk", "mcp"];
const SNIPPETS: { [name: string]: string } = Object.assign(
  {},
  ...globSync("docs/**/*.md", { cwd: repositoryRoot }).map((page) =>
    snippetsOf(page, page.replace(/^docs\/|\.md$/g, "").replaceAll("/", "-")),
  ),
  ...ROOMS.map((room) => snippetsOf(`packages/${room}/README.md`, `readme-${room}`)),
);

/** Code that tests the types of handlers and results by their capability. The compiler must refuse each marked line. */
const TYPED = `
import { type Buyer, type CreateSellerParameters, createSeller, type Handler } from "tallystick-sdk";
const mean: Handler<"compute.statistics.mean"> = ({ data }, { signal }) => {
  signal.throwIfAborted();
  return { result: data.reduce((sum, value) => sum + value, 0) };
};
const later: Handler<"text.translate.en.it"> = async ({ text }) => ({ text: text.toUpperCase() });
export const handlers: CreateSellerParameters["handlers"] = {
  "compute.statistics.mean": mean,
  "text.translate.en.it": later,
  "custom.acme.research": ({ anything }) => anything,
  // @ts-expect-error there is no such capability
  "compute.statistcs.mean": mean,
};
// @ts-expect-error a mean is a number
export const words: Handler<"compute.statistics.mean"> = () => ({ result: "three" });
// @ts-expect-error data are numbers
export const letters: Handler<"compute.statistics.mean"> = ({ data }) => ({ result: data.join("").length.at(0) });
export async function use(buyer: Buyer, parameters: CreateSellerParameters): Promise<number> {
  await createSeller(parameters);
  const limits = { maxPriceUsdc: "0.05", maxLatencyMs: 5_000 };
  // @ts-expect-error params are those of the capability
  await buyer.hire({ capability: "compute.statistics.mean", params: { numbers: [1] }, ...limits });
  const { result } = await buyer.hire({ capability: "compute.statistics.mean", params: { data: [1] }, ...limits });
  return result.result;
}
`;

describe(`npm run pack, ${FETCHES ? "installed by npm" : "with links to the installed packages"}`, function () {
  this.timeout(FETCHES ? 600_000 : 180_000);
  let folder: string;
  let packed: PackedPackage[];
  let installed: Installed;
  let modules: string;
  const children: ChildProcess[] = [];
  const servers: Server[] = [];

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-pack-test-"));
    packed = await packPackages(path.join(folder, "dist"));
    const app = path.join(folder, "app");
    mkdirSync(app);
    installed = FETCHES ? fetchPackages(packed, app) : linkPackages(packed, app);
    modules = path.join(app, "node_modules");
    mkdirSync(path.join(app, "snippets"));
    for (const [name, code] of Object.entries({ ...SNIPPETS, typed: TYPED }))
      writeFileSync(path.join(app, "snippets", `${name}.ts`), code);
    run(
      process.execPath,
      [path.join(repositoryRoot, "node_modules/typescript/bin/tsc"), "-p", app, "--checkers", "1"],
      app,
    );
  });
  after(() => {
    for (const child of children) child.kill("SIGKILL");
    for (const server of servers) server.closeAllConnections();
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (node: string, args: string[], env: { [name: string]: string } = {}): ChildProcess => {
    const child = spawn(node, args, {
      cwd: installed.folder,
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env.PATH, ...env },
    });
    children.push(child);
    return child;
  };
  /** The whole output of a program. The program must write nothing to stderr. */
  const outputOf = async (
    node: string,
    args: string[],
    env?: { [name: string]: string },
  ): Promise<string> => {
    const child = start(node, args, env);
    child.stdin?.end();
    const [out, errors] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "exit")]);
    expect(errors).to.equal("");
    return out;
  };
  /** The first line that a program prints. */
  const firstLine = async (child: ChildProcess): Promise<string> => {
    const errors = text(child.stderr!);
    for await (const line of createInterface({ input: child.stdout! })) return line;
    throw new Error(`no line was printed; stderr: ${await errors}`);
  };
  /** A compiled snippet with replaced texts. The snippet must contain each of the old texts. */
  const changed = (name: string, changes: { [was: string]: string }): string => {
    let code = readFileSync(path.join(installed.folder, "compiled", `${name}.js`), "utf8");
    for (const [was, is] of Object.entries(changes)) {
      expect(code).to.include(was);
      code = code.replaceAll(was, is);
    }
    writeFileSync(path.join(installed.folder, `${name}.mjs`), code);
    return `${name}.mjs`;
  };
  const listen = async (fetch: (request: Request) => Response | Promise<Response>): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<AddressInfo>();
    servers.push(serve({ fetch, hostname: "127.0.0.1", port: 0 }, resolve) as Server);
    return `http://127.0.0.1:${(await promise).port}`;
  };

  it("makes five tarballs of one version, without tests, examples, sources, or packages that only a node needs", () => {
    const { version } = JSON.parse(readFileSync(path.join(repositoryRoot, "package.json"), "utf8"));
    expect(packed.map(({ name }) => name).sort()).to.deep.equal(
      ROOMS.map((room) => `tallystick-${room}`).sort(),
    );
    for (const { name, manifest } of packed) {
      expect(manifest.version).to.equal(version);
      const { dependencies, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
      for (const [needed, wanted] of Object.entries(dependencies)) {
        expect(wanted, `${name} needs ${needed}`).to.match(/^\d+\.\d+\.\d+$/);
        if (needed.startsWith("tallystick-")) expect(wanted).to.equal(version);
      }
      expect(Object.keys(dependencies)).to.not.include.members(["viem"]);
      const wanted = Object.keys(peerDependencies).filter((it) => !peerDependenciesMeta[it]?.optional);
      expect(wanted.every((it) => it === "viem")).to.equal(true);
      const read = JSON.parse(readFileSync(path.join(modules, name, "package.json"), "utf8"));
      expect(read)
        .to.deep.equal(manifest)
        .and.to.not.have.any.keys("private", "devDependencies", "publishConfig");
      const files = readdirSync(path.join(modules, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name);
      expect(files).to.include.members(["README.md", "LICENSE", "package.json"]);
      const others = files.filter((file) => !/\.(js|d\.ts)$|^(README\.md|LICENSE|package\.json)$/.test(file));
      expect(others).to.deep.equal([]);
    }
    const all = FETCHES
      ? readdirSync(modules)
      : packed.flatMap(({ manifest }) => Object.keys(manifest.dependencies));
    expect(
      all.filter((name) => /^(ponder|hardhat|drizzle-orm|graphql|pg|pino|tsx|commander)$/.test(name)),
    ).to.deep.equal([]);
    if (FETCHES)
      expect(globSync("**/viem/package.json", { cwd: modules })).to.deep.equal(["viem/package.json"]);
  });

  it("has a file for every import of a package", () => {
    for (const { name } of packed) {
      const root = path.join(modules, name);
      for (const file of globSync("**/*.{js,d.ts}", { cwd: root })) {
        const code = readFileSync(path.join(root, file), "utf8");
        for (const [, to = ""] of code.matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
          const target = path.resolve(root, path.dirname(file), to);
          const wanted = file.endsWith(".d.ts") ? target.replace(/\.js$/, ".d.ts") : target;
          expect(existsSync(wanted) && wanted.startsWith(root), `${name}/${file} imports ${to}`).to.equal(
            true,
          );
        }
      }
    }
  });

  it("lets plain Node import every entry point, and no internal module", async () => {
    const entries = packed.flatMap(({ name, manifest }) =>
      Object.keys(manifest.exports)
        .filter((entry) => !/package\.json|Worker$/.test(entry))
        .map((entry) => path.posix.join(name, entry)),
    );
    expect(entries).to.include.members([
      "tallystick-sdk/buyer",
      "tallystick-sdk/seller",
      "tallystick-sdk/query",
    ]);
    const inside = [
      "tallystick-sdk/createBuyer",
      "tallystick-sdk/buyer/hireOnce",
      "tallystick-sdk/buyer.js",
      "tallystick-sdk/internal/buyer/hireOnce",
      "tallystick-protocol/records/record",
      "tallystick-capabilities/verifyOutput",
      "tallystick-derive/apply",
      "tallystick-mcp/main",
    ];
    writeFileSync(
      path.join(installed.folder, "entries.mjs"),
      `const [entries, inside] = JSON.parse(process.argv[2]);
       const empty = [], reached = [];
       for (const name of entries) await import(name);
       for (const name of inside)
         reached.push(await import(name).then(() => "reached", ({ code }) => code));
       console.log(JSON.stringify(reached));`,
    );
    for (const node of Object.values(installed.nodes)) {
      const said = await outputOf(node, ["entries.mjs", JSON.stringify([entries, inside])]);
      expect(JSON.parse(said)).to.deep.equal(inside.map(() => "ERR_PACKAGE_PATH_NOT_EXPORTED"));
    }
  });

  it("starts the worker that verifies results, from the package's own file", async () => {
    writeFileSync(
      path.join(installed.folder, "worker.mjs"),
      `import { once } from "node:events";
       import { Worker } from "node:worker_threads";
       const worker = new Worker(new URL(import.meta.resolve("tallystick-sdk/verificationWorker")));
       const [hello] = await once(worker, "message");
       worker.postMessage({ capability: "compute.statistics.mean", params: { data: [1, 2, 6] }, result: { result: 3 } });
       const [{ verification }] = await once(worker, "message");
       console.log(hello, verification.all_passed);
       await worker.terminate();`,
    );
    for (const node of Object.values(installed.nodes))
      expect(await outputOf(node, ["worker.mjs"])).to.equal("ready true\n");
  });

  it("derives the same digest as the checkout, with the program in the README and with tallystick-derive", async () => {
    const log = new EventLog();
    log.transfer(wallet(1), wallet(2), 1_000_000n);
    log.after(HOUR).tick();
    writeFileSync(
      path.join(installed.folder, "log.jsonl"),
      `${log.events.map((event) => JSON.stringify(event)).join("\n")}\n`,
    );
    const { digest } = await log.derive();
    const program = path.join(modules, FETCHES ? ".bin/tallystick-derive" : "tallystick-derive/cli.js");
    for (const node of Object.values(installed.nodes)) {
      expect((await outputOf(node, [changed("readme-derive-1", {})])).split(" ")[0]).to.equal(digest);
      const said = await outputOf(node, [program, "log.jsonl", "--digest", "--token", TOKEN]);
      expect(said).to.equal(`${digest}\n`);
    }
  });

  it("runs the snippets about capabilities", async () => {
    for (const node of Object.values(installed.nodes)) {
      expect(await outputOf(node, [changed("capabilities-1", {})])).to.match(/^true /);
      expect(await outputOf(node, [changed("readme-capabilities-1", {})])).to.match(/^true /);
    }
  });

  it("runs the snippets that only create objects", async () => {
    const some = `0x${"11".repeat(20)}`;
    const mcp = { TALLYSTICK_URL: "https://node.example" };
    for (const node of Object.values(installed.nodes)) {
      const env = { BUYER_PRIVATE_KEY: newWallet().privateKey };
      expect(await outputOf(node, [changed("sdk-2", { '"0x…"': `"${some}"` })], env)).to.equal("");
      expect(await outputOf(node, [changed("readme-mcp-1", {})], mcp)).to.equal("");
      const port = { "port: 8900 }": "port: 0 }, ({ port }) => console.log(port)" };
      const server = start(node, [changed("mcp-1", port)], mcp);
      const health = await fetch(`http://127.0.0.1:${await firstLine(server)}/health`);
      expect(await health.json()).to.deep.equal({ status: "ok" });
      server.kill();
    }
  });

  it("serves MCP over stdio as tallystick-mcp", async () => {
    const { manifest } = packed.find(({ name }) => name === "tallystick-mcp")!;
    expect(manifest.bin).to.deep.equal({ "tallystick-mcp": "./main.js" });
    const server = JSON.parse(readFileSync(path.join(repositoryRoot, "packages/mcp/server.json"), "utf8"));
    expect([manifest.mcpName, manifest.name]).to.deep.equal([server.name, server.packages[0].identifier]);
    const program = path.join(modules, FETCHES ? ".bin/tallystick-mcp" : "tallystick-mcp/main.js");
    for (const node of Object.values(installed.nodes)) {
      const child = start(node, [program], { TALLYSTICK_URL: "https://node.example" });
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
      child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
      expect(JSON.parse(await firstLine(child)).result.serverInfo).to.include({ name: "tallystick-mcp" });
      child.kill();
    }
  });

  describe("used by a seller and a buyer", () => {
    let chain: SdkChain;
    let market: Market;

    before(async () => {
      chain = await startSdkChain();
      market = await openMarket(chain);
    });
    after(async () => {
      await market.close();
      await chain.close();
    });

    /** A node with the ledger, and with a search that finds every listing that the node got. */
    const openNode = (): Promise<string> =>
      listen(async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/v1/search") {
          const { agents } = await market.search.search(await request.json());
          return Response.json({ agents, next_cursor: null });
        }
        if (pathname === "/v1/listings") {
          const { body, signer } = await request.clone().json();
          market.offers.push({ agent_id: signer, listing: body, reputation: { success_rate: null } });
        }
        return await market.ledger.app.fetch(request);
      });
    const openFacilitator = (): Promise<string> =>
      listen(async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/supported") return Response.json(await chain.facilitator.getSupported());
        const { paymentPayload, paymentRequirements } = await request.json();
        const answer = pathname === "/verify" ? chain.facilitator.verify : chain.facilitator.settle;
        return Response.json(await answer(paymentPayload, paymentRequirements));
      });

    const openRpc = (): Promise<string> =>
      listen(async (request) => {
        const { id, method, params } = await request.json();
        return Response.json({ jsonrpc: "2.0", id, result: await chain.client.request({ method, params }) });
      });

    it("sells with the selling snippet and buys with the buying snippets, with real payments", async () => {
      const baseUrl = await openNode();
      const network = `network: ${JSON.stringify(chain.network)}, devMode: true`;
      const node = { '"https://node.example"': JSON.stringify(baseUrl), "network: base": network };
      for (const [name, program] of Object.entries(installed.nodes)) {
        market.offers.length = 0;
        const sellerWallet = newWallet();
        let port = "";
        // This proxy removes the path of the endpoint, as a reverse proxy may do.
        const proxy = await listen((request) => {
          const { pathname, search } = new URL(request.url);
          const { method, headers, body } = request;
          const url = `http://127.0.0.1:${port}${pathname.replace(/^\/v1/, "")}${search}`;
          return fetch(url, { method, headers, ...(body && { body, duplex: "half" }) } as RequestInit);
        });
        const sell = changed("sdk-3", {
          ...node,
          '"https://agent.example/v1"': JSON.stringify(`${proxy}/v1`),
          '"https://facilitator.example"': JSON.stringify(await openFacilitator()),
          '"https://rpc.example"': JSON.stringify(await openRpc()),
          '"./seller"': JSON.stringify(`./${name}`),
          "port: 8080 }": "port: 0 }, ({ port }) => console.log(port)",
          // A busy machine may need more than a few seconds.
          "max_latency_ms: 3_000": "max_latency_ms: 60_000",
        });
        const seller = start(program, [sell], { SELLER_PRIVATE_KEY: sellerWallet.privateKey });
        port = await firstLine(seller);

        let spent = 0n;
        const buyer = newWallet();
        await chain.mint(buyer, 1_000_000n);
        for (const [snippet, said, latency] of [
          ["sdk-1", "3.875 true authorized", "10_000"],
          ["readme-sdk-1", "{ result: 2 } true authorized", "5_000"],
        ] as const) {
          const buy = changed(snippet, { ...node, [`maxLatencyMs: ${latency}`]: "maxLatencyMs: 60_000" });
          expect(await outputOf(program, [buy], { BUYER_PRIVATE_KEY: buyer.privateKey }), name).to.equal(
            `${said}\n`,
          );
          spent += parseUsdc("0.02");
          expect(await chain.balanceOf(buyer)).to.equal(1_000_000n - spent);
          expect(await chain.balanceOf(sellerWallet)).to.equal(spent);
        }
        seller.kill();
      }
      // The program in the protocol's README proves the first entry, which was settled meanwhile.
      const bundle = await fetch(`${baseUrl}/v1/ledger/bundle?index=0`);
      writeFileSync(path.join(installed.folder, "proof.json"), await bundle.text());
      for (const program of Object.values(installed.nodes))
        expect(await outputOf(program, [changed("readme-protocol-1", {})])).to.include("'listing'");
    });
  });
});
