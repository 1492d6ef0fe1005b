import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { toFunctionSelector } from "viem";
import { buildPortal } from "../../../portal/build.mjs";
import { actors } from "../../../scripts/demo/actors.ts";
import { askGraphql } from "../../../scripts/demo/readBack.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { type Lie, type LyingNode, openLyingNode } from "../../portal/support/lyingNode.ts";
import { type LyingRpc, openLyingRpc, type RpcLie } from "../../portal/support/lyingRpc.ts";
import { BROWSER_MS, startBrowser } from "../../support/browser.ts";
import type { DemoResult } from "./demoProcess.ts";

/**
 * The test mines FINAL blocks. Then the present head is final, by Ponder's count for an unknown chain, and so is the tick
 * after it. The test mines AT_ONCE blocks at once, and waits until Ponder has seen them, because Ponder ends if
 * too many unseen blocks come.
 */
const [FINAL, AT_ONCE] = [75, 5];

/** Ponder's status of its chains. */
type Status = Record<string, { block: { number: number } }>;

/** Tests the portal with a real node behind a proxy that lies. The page must detect each lie and name it. */
export function portalLies(demoOf: () => DemoResult): void {
  describe("its portal", function () {
    this.timeout(BROWSER_MS);
    let folder: string;
    let node: LyingNode;
    /** Two sources of one chain: an honest one, and one that may lie. */
    let rpc: LyingRpc;
    let browser: Browser;
    let page: Page;

    before(async () => {
      folder = mkdtempSync(path.join(tmpdir(), "tallystick-portal-"));
      await buildPortal(folder);
      node = await openLyingNode(demoOf().url, folder);
      rpc = await openLyingRpc(demoOf().rpcUrl);
      browser = await startBrowser();
      page = await browser.newPage();
      page.setDefaultTimeout(180_000);
    });
    after(async () => {
      await browser?.close();
      await node?.close();
      await rpc?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const askChain = async (method: string, params: unknown[] = []) => {
      const response = await fetch(demoOf().rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return ((await response.json()) as { result: string }).result;
    };
    const blockOfNode = async () => {
      const chains = (await (await fetch(`${demoOf().url}/status`)).json()) as Status;
      return Math.max(...Object.values(chains).map((it) => it.block.number));
    };
    const mine = async () => {
      for (let mined = 0; mined < FINAL; mined += AT_ONCE) {
        await askChain("hardhat_mine", [`0x${AT_ONCE.toString(16)}`]);
        const head = Number(await askChain("eth_blockNumber"));
        await waitUntil(async () => (await blockOfNode()) >= head, {
          ...{ what: `the node sees block ${head}`, withinMs: 120_000, everyMs: 100 },
        });
      }
    };

    /** The honest figures of all agents that the test asks for, at one block. The node gives these figures each time. */
    const figures = new Map<string, string>();
    const keepFigures = async () => {
      node.lie = (asked, body) => {
        figures.set(asked, body);
        return body;
      };
      for (const { address } of [...actors.ring, actors.scribe, actors.forge])
        for (const what of ["reputation", "cluster?limit=100"])
          await (await fetch(`${node.url}v1/agents/${address}/${what}`)).text();
    };

    /** What the page shows for an agent while the node tells this lie. */
    const told = async (address: string, lie: Lie): Promise<string> => {
      let isMined = figures.size > 0;
      if (!isMined) await keepFigures();
      node.lie = (asked, body) => {
        // The page waits until the node's answer is final. The test mines as soon as the page reads the log, so it
        // needs no clock.
        if (asked.startsWith("/v1/events") && !isMined) {
          isMined = true;
          void mine();
        }
        return lie(asked, figures.get(asked) ?? body);
      };
      await page.goto(`${node.url}#/verify/${address}`);
      await page.reload();
      await page.getByRole("button", { name: "Check it here" }).click();
      await page.locator(".checks").waitFor();
      return await page.locator(".checks").innerText();
    };
    const changing =
      (asked: RegExp, change: (body: string) => string): Lie =>
      (at, body) =>
        asked.test(at) ? change(body) : body;
    const [ring] = actors.ring;

    it("finds that an honest node's figures of an agent follow from its log", async () => {
      const said = await told(ring.address, (_, body) => body);
      expect(said).not.to.contain("Does not hold");
      expect(said)
        .to.match(/All \d+ figures/)
        .and.contain("the 4 other members that the node names");
    });

    it("names a changed figure", async () => {
      const lie = changing(/reputation$/, (body) =>
        body.replace(/"success_rate":[\d.]+/, '"success_rate":0.99'),
      );
      expect(await told(actors.scribe.address, lie)).to.contain("success_rate is not what the log gives");
    });

    it("names a hidden member of a cluster", async () => {
      const hidden = actors.ring[1].address;
      const lie = changing(/cluster\?limit=100$/, (body) => {
        const said = JSON.parse(body) as { co_members: string[] };
        return JSON.stringify({ ...said, co_members: said.co_members.filter((it) => it !== hidden) });
      });
      const said = await told(ring.address, lie);
      expect(said).to.contain("The node hides 1 of the members of its cluster").and.contain(hidden);
    });

    it("names a receipt that was changed, because its signature does not fit", async () => {
      const lie = changing(/^\/v1\/events[^#]*$/, (body) =>
        body.replace('"all_passed":false', '"all_passed":true'),
      );
      expect(await told(actors.scribe.address, lie)).to.contain(
        "The node's digest does not follow from its log",
      );
    });

    it("names a forged signature", async () => {
      const lie = changing(/^\/v1\/events[^#]*$/, (body) =>
        body
          .split("\n")
          .map((line) =>
            // Changes the signature of a receipt, because receipts are in the figures. Another forged record may change
            // no figure.
            line.includes('"type":"receipt"')
              ? line.replace(
                  /("signature":"0x)([0-9a-f]{2})/,
                  (_, key, byte) => `${key}${byte === "11" ? "22" : "11"}`,
                )
              : line,
          )
          .join("\n"),
      );
      expect(await told(actors.scribe.address, lie)).to.contain(
        "The node's digest does not follow from its log",
      );
    });

    it("names a dropped line: a hidden refund", async () => {
      const isEvents = /^\/v1\/events\?after=0&[^#]*$/;
      const lie: Lie = (asked, body) => {
        if (/#tallystick-lines$/.test(asked))
          return body.replace(/(next|last)=(\d+)/g, (_, name, line) => `${name}=${Number(line) - 1}`);
        if (!isEvents.test(asked)) return body;
        const lines = body.split("\n");
        return lines.filter((line) => !line.includes('"kind":"escrow.refunded"')).join("\n");
      };
      expect(await told(actors.forge.address, lie)).to.match(/digest does not follow|log cannot be followed/);
    });

    /** How long the page's check of a receipt takes, in milliseconds, with the requests for its line and its proof. */
    let receiptMs = 0;
    /** What the page shows for a receipt while the node tells this lie. */
    const toldOfReceipt = async (lie: Lie): Promise<string> => {
      const query = `{ agent(address: "${actors.scribe.address}") { hires(first: 1) { nodes { id } } } }`;
      const { agent } = await askGraphql<{ agent: { hires: { nodes: { id: string }[] } } }>(
        demoOf().url,
        query,
      );
      node.lie = lie;
      await page.goto(`${node.url}#/hire/${agent.hires.nodes[0]?.id}`);
      await page.reload();
      const button = page.getByRole("button", { name: "Check it here" });
      await button.waitFor();
      const start = performance.now();
      await button.click();
      await page.locator(".checks").waitFor();
      receiptMs = performance.now() - start;
      return await page.locator(".checks").innerText();
    };

    it("finds that a receipt is signed and in the ledger", async () => {
      const said = await toldOfReceipt((_, body) => body);
      expect(said).not.to.contain("Does not hold");
      expect(said)
        .to.contain("Its signer's wallet signed it")
        .and.contain("The inclusion proof leads to the root");
      console.log(`          checked in ${receiptMs.toFixed(0)} ms, from the press of the button`);
    });

    it("names a receipt with other content than the signed one", async () => {
      const lie = changing(/graphql$/, (body) => body.replace(/("latency_ms":)\d+/, "$11"));
      expect(await toldOfReceipt(lie)).to.contain("The page shows something else than what was signed");
    });

    it("names a wrong inclusion proof", async () => {
      const lie = changing(/graphql$/, (body) =>
        body.replace(
          /("hashes":\["(?:0x)?)([0-9a-f]{2})/,
          (_, key, byte) => `${key}${byte === "11" ? "22" : "11"}`,
        ),
      );
      expect(await toldOfReceipt(lie)).to.contain("It is not in the tree of that root");
    });

    it("names another line of the ledger in the place of the receipt's", async () => {
      const lie = changing(/ledger\/entries\?/, (body) =>
        body.replace('"protocol_version": "swarmwage', '"protocol_version": "swarmwagf'),
      );
      expect(await toldOfReceipt(lie)).to.contain("The entry does not hold");
    });

    it("names the digest of another block", async () => {
      const other = `0x${"d1".repeat(32)}`;
      const lie: Lie = (asked, body) =>
        /#tallystick-as-of$/.test(asked)
          ? body.replace(/digest="0x[0-9a-f]{64}"/, `digest="${other}"`)
          : body;
      await told(actors.scribe.address, lie);
      // The page confirms the figures up to the final log. The changed digest is of a later block, so the page may have
      // to wait.
      const wait = page.getByRole("button", { name: /^Wait until block/ });
      if (await wait.isVisible()) {
        await wait.click();
        await page.locator(".checks").waitFor({ state: "detached" });
        await mine();
        await page.locator(".checks").waitFor();
      }
      expect(await page.locator(".checks").innerText()).to.match(
        /The digest that came with the figures is not that of block \d+/,
      );
    });

    const truth: Lie = (_, body) => body;
    const rpcTruth: RpcLie = (_, __, result) => result;
    /** What the page shows for the heads of ledgers while a node and a source tell these lies. */
    const toldOfHeads = async (lie: Lie, rpcLie = rpcTruth, sources = [demoOf().rpcUrl, rpc.url]) => {
      [node.lie, rpc.lie, rpc.asked] = [lie, rpcLie, []];
      await page.goto(`${node.url}#/ledger/${demoOf().ledger.id}`);
      await page.reload();
      return await askChainInPage(sources);
    };
    const askChainInPage = async (sources: readonly string[]) => {
      for (const [n, label] of [/First source/, /Second source/].entries())
        await page
          .getByLabel(label)
          .last()
          .fill(sources[n] ?? "");
      expect(rpc.asked, "asked before the reader pressed").to.deep.equal([]);
      await page.getByRole("button", { name: "Ask the chain" }).last().click();
      const checks = page.locator("section", { hasText: "asked only when you press" }).locator(".checks");
      await checks.last().waitFor();
      return await checks.last().innerText();
    };
    /** Changes the newest head in the node's answer. */
    const withHead = (
      change: (head: { size: number; root: string }) => { size: number; root: string },
    ): Lie =>
      changing(/graphql$/, (body) =>
        body.replace(
          /("origin":"[^"]*","size":)(\d+)(,"root":")(0x[0-9a-f]{64})/,
          (_, begin, size, middle, root) => {
            const { size: at, root: told } = change({ size: Number(size), root });
            return `${begin}${at}${middle}${told}`;
          },
        ),
      );

    it("finds the head of an honest node on the chain, by two sources", async () => {
      const said = await toldOfHeads(truth);
      expect(said).not.to.contain("Does not hold");
      expect(said)
        .to.contain("Two sources say the same")
        .and.contain("The node's head is the chain's")
        .and.contain("The ledger's id follows from chain, contract, first writer and name")
        .and.contain("The contract has the released code")
        .and.contain("It is the ledger of this page's address");
      expect(rpc.asked).to.include("eth_call");
    });

    it("says that there is only one source if the reader names only one", async () => {
      const said = await toldOfHeads(truth, rpcTruth, [rpc.url]);
      expect(said).to.contain("One source").and.contain("The node's head is the chain's");
    });

    it("names a false head that one of two sources tells", async () => {
      const lie: RpcLie = (method, [call], result) =>
        method === "eth_call" && String(result).length === 258 && call !== undefined
          ? `0x${"ab".repeat(32)}${String(result).slice(66)}`
          : result;
      expect(await toldOfHeads(truth, lie)).to.contain("The two sources do not agree");
    });

    it("does not believe the head of a contract that has other code", async () => {
      const lie: RpcLie = (method, _, result) =>
        method === "eth_getCode" ? String(result).replace(/..$/, "00") : result;
      const said = await toldOfHeads(truth, lie, [rpc.url]);
      expect(said).to.contain("The contract's code is not that of a released AnchoredLedger");
      expect(said).not.to.contain("The node's head is the chain's");
      expect(await toldOfHeads(truth, lie)).to.contain("The two sources do not agree");
    });

    it("does not believe one of two sources if it says that the chain is still at its beginning", async () => {
      const lie: RpcLie = (method, _, result) => (method === "eth_blockNumber" ? "0x0" : result);
      // The page asks the honest source about the same block. At that block the contract did not exist yet.
      expect(await toldOfHeads(truth, lie)).to.match(/no contract at this address|do not agree/);
      const forger: RpcLie = (method, [call], result) => {
        if (method === "eth_blockNumber") return "0x0";
        if (method === "eth_getCode") return "0x60";
        if (method !== "eth_call") return result;
        const isHead = String(Object(call).data).startsWith(toFunctionSelector("head(bytes32)"));
        const [zero, one] = ["0".repeat(64), "1".padStart(64, "0")];
        return isHead ? `0x${"ab".repeat(32)}${one}${one}${one}` : `0x${zero}`;
      };
      const said = await toldOfHeads(truth, forger);
      expect(said).to.contain("The two sources do not agree");
      expect(said).not.to.contain("One source");
    });

    it("names an old head", async () => {
      const { checkpoints } = await askGraphql<{
        checkpoints: { nodes: { size: string; root: string }[] };
      }>(demoOf().url, `{ checkpoints(ledger: "${demoOf().ledger.id}", first: 10) { nodes { size root } } }`);
      const [newest] = checkpoints.nodes;
      const old = checkpoints.nodes.find(({ size }) => size !== newest?.size);
      const said = await toldOfHeads(withHead(() => ({ size: Number(old?.size), root: String(old?.root) })));
      expect(said).to.contain("The node tells an old head");
    });

    it("names another ledger's head", async () => {
      const said = await toldOfHeads(withHead(({ size }) => ({ size, root: `0x${"1d".repeat(32)}` })));
      expect(said).to.contain("The node tells the head of another ledger");
    });

    it("names a contract that does not have the ledger", async () => {
      const lie = changing(/graphql$/, (body) =>
        body.replace(/"anchoredLedger":"0x[0-9a-f]{40}"/, `"anchoredLedger":"0x${"cc".repeat(20)}"`),
      );
      expect(await toldOfHeads(lie)).to.contain(
        "The node names another contract or writer than the ledger's id does",
      );
    });

    /** What the ledger's page shows after this button is pressed, while the node tells this lie. */
    const toldOfLedger = async (button: string, lie: Lie): Promise<string> => {
      node.lie = lie;
      await page.goto(`${node.url}#/ledger/${demoOf().ledger.id}`);
      await page.reload();
      await page.getByRole("button", { name: button }).click();
      await page.locator(".checks").first().waitFor();
      return await page.locator(".checks").first().innerText();
    };

    it("accepts any two heads of one history, by proof, by every entry and by tiles", async () => {
      expect(await toldOfLedger("Check the proof here", truth)).to.contain(
        "The later head is a continuation of the earlier one",
      );
      expect(await toldOfLedger("Read every entry here", truth)).to.match(
        /heads are of one and the same growing tree/,
      );
      const tiles = await toldOfLedger("Read the tiles here", truth);
      expect(tiles).to.contain("The tiles make the root of the anchored head");
      expect(tiles).not.to.contain("Does not hold");
    });

    it("names two heads that are not of one history", async () => {
      const lie = changing(/consistency\?/, (body) =>
        body.replace(
          /("proof":\["(?:0x)?)([0-9a-f]{2})/,
          (_, key, byte) => `${key}${byte === "11" ? "22" : "11"}`,
        ),
      );
      expect(await toldOfLedger("Check the proof here", lie)).to.contain("are not of one history");
    });

    it("names a truncated ledger", async () => {
      const lie = changing(/ledger\/entries\?/, (body) =>
        body
          .split("\n")
          .slice(0, -4)
          .map((line) => `${line}\n`)
          .join(""),
      );
      expect(await toldOfLedger("Read every entry here", lie)).to.contain("The ledger is cut off");
    });

    it("learns from the chain, and names, the entries that are missing at the end of a ledger file", async () => {
      [node.lie, rpc.lie, rpc.asked] = [truth, rpcTruth, []];
      await page.goto(`${node.url}#/verify`);
      await page.reload();
      const lines = readFileSync(demoOf().ledgerFile, "utf8")
        .split("\n")
        .slice(0, demoOf().ledger.size - 2);
      await page.getByLabel("A file to verify").setInputFiles({
        name: "ledger.jsonl",
        mimeType: "text/plain",
        buffer: Buffer.from(`${lines.join("\n")}\n`),
      });
      await page.getByRole("heading", { name: "The chain, and the file" }).waitFor();
      const said = await askChainInPage([demoOf().rpcUrl, rpc.url]);
      expect(said)
        .to.match(/The last \d+ entries are missing in the file/)
        .and.contain("It is the ledger that the file names");
      // If the file is of a ledger that the node does not follow, the page compares it with nothing.
      const id = page.getByLabel("The ledger's id: the file names this one");
      expect(await id.inputValue()).to.equal(demoOf().ledger.id);
      rpc.asked = [];
      await id.fill(`0x${"1e".repeat(32)}`);
      expect(await askChainInPage([demoOf().rpcUrl, rpc.url])).to.contain("This node follows no such ledger");
      expect(rpc.asked).to.deep.equal([]);
    });

    it("finds the held escrow of the demo, with the terms of its id", async () => {
      [node.lie, rpc.lie] = [truth, rpcTruth];
      await page.goto(`${node.url}#/escrow/new`);
      await page.reload();
      const row = page.getByRole("row", { name: /Held/ });
      await row.getByRole("link").first().click();
      await page.getByText("Computed here").waitFor();
      expect(await page.locator("h1 + .badge").innerText()).to.equal("Held");
      expect(await page.getByRole("timer").innerText()).to.contain("to the deadline");
    });

    it("finds an honest node honest again", async () => {
      expect(await told(actors.scribe.address, (_, body) => body)).not.to.contain("Does not hold");
    });
  });
}
