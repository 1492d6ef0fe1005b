import { availableParallelism } from "node:os";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { toHex } from "tallystick-protocol/hex";
import { entryLine, GENESIS_HASH, type LedgerEntry, sealEntry } from "tallystick-protocol/ledger/entry";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { signBody } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";
import { fileKindOf } from "../../portal/verify/fileKind.ts";
import { claimChecks } from "../../portal/verify/verifyNode.ts";
import { cast } from "../indexer/support/apiStory.ts";
import { BROWSER_MS, sharedBrowser } from "../support/browser.ts";
import { expectAccessible } from "./support/axe.ts";
import { openPortalSite, type PortalSite } from "./support/portalSite.ts";

/** The lines of a ledger's file with `size` entries. */
function ledgerLines(size: number): string[] {
  let parentHash = GENESIS_HASH;
  return Array.from({ length: size }, (_, n) => {
    const payload: LedgerEntry["payload"] = { type: "settlement", data_update: { step: BigInt(n) } };
    const entry = sealEntry({ timestamp: 1_767_225_600.5 + n, taskId: `task-${n}`, parentHash, payload });
    parentHash = entry.currentHash;
    return entryLine(entry);
  });
}

describe("verification in the portal", function () {
  this.timeout(BROWSER_MS);
  this.slow(10_000);
  let site: PortalSite;
  let page: Page;

  before(async () => {
    site = await openPortalSite();
    page = await (await sharedBrowser()).newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(`${site.url}#/verify`);
    await page.getByRole("heading", { name: "Check it yourself" }).waitFor();
  });
  after(async () => {
    await page?.close();
    await site?.close();
  });

  /** Gives a file to the page, and returns the result that the page shows. */
  const verify = async (text: string): Promise<string> => {
    await page.reload();
    await page.getByLabel("A file to verify").setInputFiles({
      name: "file",
      mimeType: "text/plain",
      buffer: Buffer.from(text),
    });
    const checks = page.locator("section", { has: page.locator("#file") }).locator(".checks");
    await checks.waitFor();
    return await checks.innerText();
  };

  it("accepts a ledger, and shows its root", async () => {
    const said = await verify(`${ledgerLines(500).join("\n")}\n`);
    expect(said).to.contain("All 500 entries verify").and.contain("root 0x");
    expect(said).to.contain("Only the chain shows whether entries are missing at the end");
    await expectAccessible(page, "a ledger that holds");
  });

  it("names the line in which one digit was changed", async () => {
    const lines = ledgerLines(500);
    const changed = lines.with(321, (lines[321] as string).replace('"step": 321', '"step": 322'));
    const said = await verify(changed.join("\n"));
    expect(said).to.contain("The 321 entries before it verify").and.contain("Line 322 does not hold");
    await expectAccessible(page, "a ledger that does not hold");
  });

  it("verifies a large ledger in several workers, with the same root as one thread, and names a bad line", async () => {
    const lines = ledgerLines(30_000);
    const frontier = new MerkleFrontier();
    for (const line of lines) frontier.append(lineLeafHash(line));
    const text = `${lines.join("\n")}\n`;
    expect(text.length).to.be.above(8 << 20);
    const said = await verify(text);
    expect(said)
      .to.contain("All 30,000 entries verify")
      .and.contain(`root ${toHex(frontier.root())}`);
    if (availableParallelism() > 1) expect(said).to.match(/\d workers shared the file/);
    const changed = lines.with(29_001, (lines[29_001] as string).replace("task-29001", "task-29002"));
    expect(await verify(changed.join("\n"))).to.contain("Line 29002 does not hold");
    // Whole lines are missing at the end of a part. Each part alone verifies, but the next part does not continue it.
    expect(await verify(`${lines.toSpliced(15_000, 9).join("\n")}\n`)).to.contain("Line 15001 does not hold");
  });

  it("names the line after a missing line", async () => {
    expect(await verify(ledgerLines(50).toSpliced(20, 1).join("\n"))).to.contain("Line 21 does not hold");
  });

  it("distinguishes a forged signature from a valid signature", async () => {
    const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
    const body = { agent_id: account.address.toLowerCase(), capability: "code.review", price_usdc: "0.50" };
    const signature = await signBody(body, { account });
    const record = { type: "listing", body, signer: account.address.toLowerCase(), signature };
    expect(await verify(JSON.stringify(record))).to.contain("Its signer's wallet signed it");
    const forged = { ...record, body: { ...body, price_usdc: "0.05" } };
    expect(await verify(JSON.stringify(forged))).to.contain("Its signer's wallet did not sign it");
  });

  it("refuses a proof without content, and unknown files", async () => {
    expect(await verify(JSON.stringify({ format: "tallystick/proof/v1" }))).to.contain(
      "The proof does not hold",
    );
    expect(await verify("hello")).to.contain(
      "This is no ledger, event log, proof, checkpoint, trust report or signed record",
    );
  });

  it("reports a node without a log", async () => {
    // The story has rows, but none of its blocks is final.
    await page.goto(`${site.url}#/verify/${cast.busy}`);
    await page.getByRole("button", { name: "Check it here" }).click();
    await page.getByText("The node's log cannot be followed").first().waitFor();
  });

  it("sends the same query as an agent's page, so that a node cannot recognise a check", async () => {
    const asked: (string | null)[] = [];
    const note = (it: { url: () => string; postData: () => string | null }) => {
      if (it.url().endsWith("/graphql")) asked.push(it.postData());
    };
    page.on("request", note);
    try {
      await page.goto(`${site.url}#/agent/${cast.busy}`);
      await page.getByText("Why this tier").first().waitFor();
      const [shown] = asked.splice(0);
      await page.goto(`${site.url}#/verify/${cast.busy}`);
      await page.getByRole("button", { name: "Check it here" }).click();
      await page.locator(".checks").waitFor();
      expect(asked).to.not.be.empty;
      for (const it of asked) expect(it).to.equal(shown);
    } finally {
      page.off("request", note);
    }
  });

  it("recognises files by their beginning", () => {
    expect(fileKindOf('{"block":0,"kind":"params","form":"all"}\n')).to.equal("log");
    expect(fileKindOf(ledgerLines(1)[0] as string)).to.equal("ledger");
    expect(fileKindOf('\ufeff{\n "format": "tallystick/proof/v1" }')).to.equal("proof");
    expect(fileKindOf('{"body":{},"signature":"0x"}')).to.equal("record");
    expect(fileKindOf("")).to.equal("unknown");
  });

  describe("of a node's figures for an agent", () => {
    const address = `0x${"a1".repeat(20)}`;
    const figures = {
      success_rate: 0.9,
      cluster_id: "clst_1",
      avg_cost_per_capability: { "code.review": "0.50" },
    };
    const snapshot = {
      asOf: { block: 70, time: 1 },
      agents: { [address]: figures },
      clusters: { clst_1: { kind: "ownership", merged_into: null, size: 2, members: [address, "0xb"] } },
      digest: "0xd",
      // biome-ignore lint/suspicious/noExplicitAny: only what is looked at.
    } as any;
    const claim = { address, figures, coMembers: ["0xb"], asOf: { block: 70, digest: "0xd" } };
    const failsOf = (changed: object, of = snapshot) =>
      claimChecks({ ...claim, ...changed }, of).flatMap(({ state, text }) => (state === "no" ? [text] : []));

    it("confirms true figures", () => {
      expect(failsOf({})).to.deep.equal([]);
      expect(claimChecks(claim, snapshot).map(({ state }) => state)).to.deep.equal(["yes", "yes", "yes"]);
    });

    it("names a changed figure, a hidden member, an invented one, and the digest of another block", () => {
      expect(failsOf({ figures: { ...figures, success_rate: 1 } })).to.deep.equal([
        "success_rate is not what the log gives",
      ]);
      expect(failsOf({ figures: { ...figures, avg_cost_per_capability: {} } })).to.have.length(1);
      expect(failsOf({ coMembers: [] })).to.deep.equal(["The node hides 1 of the members of its cluster"]);
      expect(failsOf({ coMembers: ["0xb", "0xc"] })).to.deep.equal([
        "The node names members that its cluster does not have",
      ]);
      expect(failsOf({ asOf: { block: 70, digest: "0xe" } })).to.deep.equal([
        "The digest that came with the figures is not that of block 70",
      ]);
    });

    it("names figures that the agent's page shows differently, and a cluster of which only a part is named", () => {
      expect(failsOf({ shown: { success_rate: 0.9, no_figure: 1 } })).to.deep.equal([]);
      expect(failsOf({ shown: { success_rate: 0.99 } })).to.deep.equal([
        "success_rate is not what the log gives",
      ]);
      expect(failsOf({ coMembers: null })).to.deep.equal([
        "The node names only a part of the members of its cluster",
      ]);
      const unshown = claimChecks({ ...claim, shown: null }, snapshot);
      expect(unshown.map(({ state }) => state)).to.deep.equal(["yes", "yes", "open", "yes"]);
    });

    it("gives no verdict on a figure that is not final yet", () => {
      const earlier = { ...snapshot, asOf: { block: 60, time: 1 } };
      expect(failsOf({ figures: { ...figures, success_rate: 1 } }, earlier)).to.deep.equal([]);
      expect(claimChecks({ ...claim, figures: { ...figures, success_rate: 1 } }, earlier)[0]?.state).to.equal(
        "open",
      );
    });
  });
});
