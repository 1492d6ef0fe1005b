import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { buildPortal } from "../../../portal/build.mjs";
import { actors } from "../../../scripts/demo/actors.ts";
import { askGraphql } from "../../../scripts/demo/readBack.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { type Lie, type LyingNode, openLyingNode } from "../../portal/support/lyingNode.ts";
import { BROWSER_MS, startBrowser } from "../../support/browser.ts";
import type { DemoResult } from "./demoProcess.ts";

/**
 * Blocks until what is the head now is final, as Ponder counts it on a chain that it does not know, and one more tick. They come a few
 * at once, and the next when it has seen those: it ends when too many come that it has not seen.
 */
const [FINAL, AT_ONCE] = [45, 5];

/** What Ponder says of its chains. */
type Status = Record<string, { block: { number: number } }>;

/** The portal in front of a real node, and of something that lies: the page has to say so, and of what. */
export function portalLies(demoOf: () => DemoResult): void {
  describe("its portal", function () {
    this.timeout(BROWSER_MS);
    let folder: string;
    let node: LyingNode;
    let browser: Browser;
    let page: Page;

    before(async () => {
      folder = mkdtempSync(path.join(tmpdir(), "tallystick-portal-"));
      await buildPortal(folder);
      node = await openLyingNode(demoOf().url, folder);
      browser = await startBrowser();
      page = await browser.newPage();
      page.setDefaultTimeout(60_000);
    });
    after(async () => {
      await browser?.close();
      await node?.close();
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
          ...{ what: `the node sees block ${head}`, withinMs: 60_000, everyMs: 100 },
        });
      }
    };

    /** What the page says of an agent in front of a node that lies so. */
    const told = async (address: string, lie: Lie): Promise<string> => {
      let isMined = false;
      node.lie = (asked, body) => {
        // The page waits until what it was told is final: no clock has to be waited for.
        if (asked.startsWith("/v1/events") && !isMined) {
          isMined = true;
          void mine();
        }
        return lie(asked, body);
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

    it("finds that what an honest node says of an agent follows from its log", async () => {
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
      expect(said).to.contain("The node hides 1 members of its cluster").and.contain(hidden);
    });

    it("names a receipt that was changed, since nobody signed it so", async () => {
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
            // A receipt's: a record of which no figure is made changes none by being forged.
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

    it("names a line that was dropped: a refund that was hidden", async () => {
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

    /** What the page says of a receipt in front of a node that lies so. */
    const toldOfReceipt = async (lie: Lie): Promise<string> => {
      const query = `{ agent(address: "${actors.scribe.address}") { hires(first: 1) { nodes { id } } } }`;
      const { agent } = await askGraphql<{ agent: { hires: { nodes: { id: string }[] } } }>(
        demoOf().url,
        query,
      );
      node.lie = lie;
      await page.goto(`${node.url}#/hire/${agent.hires.nodes[0]?.id}`);
      await page.reload();
      await page.getByRole("button", { name: "Check it here" }).click();
      await page.locator(".checks").waitFor();
      return await page.locator(".checks").innerText();
    };

    it("finds that a receipt is signed and in the ledger", async () => {
      const said = await toldOfReceipt((_, body) => body);
      expect(said).not.to.contain("Does not hold");
      expect(said)
        .to.contain("Its signer's wallet signed it")
        .and.contain("The inclusion proof leads to the root");
    });

    it("names a receipt that says something else than was signed", async () => {
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

    it("finds an honest node honest again", async () => {
      expect(await told(actors.scribe.address, (_, body) => body)).not.to.contain("Does not hold");
    });
  });
}
