import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { build } from "esbuild";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { escrowId } from "tallystick-protocol/escrow/hire";
import { createSeller } from "tallystick-sdk/createSeller";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { bundleEntries } from "../../../tools/bundle/entries.ts";
import { type Bundle, measureBundle } from "../../../tools/bundle/measureBundle.ts";
import { BROWSER_MS, servePage, startBrowser } from "../../support/browser.ts";
import { account, badOffers, deployment, hire, log, pageInput, samples } from "./pageInput.ts";

const SCRIPT = path.join(import.meta.dirname, "page.mjs");
/** The capabilities that need the data about languages, which is large. */
const OF_LANGUAGE = ["audioTranscribe", "classifyText", "textRewrite", "textSummarize", "textTranslate"];

describe("bundles for browsers", () => {
  let folder: string;
  let bundles: Bundle[];
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-bundles-"));
    bundles = await Promise.all(bundleEntries.map((entry) => measureBundle(entry, folder)));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const bundleOf = (name: string): Bundle => bundles.find((bundle) => bundle.name === name) as Bundle;

  for (const { name, most } of bundleEntries) {
    it(`keep ${name} within ${most} bytes after gzip`, () => {
      const { initial, largest } = bundleOf(name);
      expect(initial.gzip, JSON.stringify(largest.slice(0, 8))).to.be.at.most(most);
      // The limit must be near the real size. Otherwise it tests nothing.
      expect(initial.gzip).to.be.above(most * 0.75);
    });
  }

  it("load verifiers and language data only when they are needed", () => {
    const verifiers = Object.keys(bundleOf("verify").lazy);
    expect(verifiers).to.have.length(19).that.includes.members(OF_LANGUAGE);
    for (const name of ["buyer", "seller", "verify"]) {
      const { lazy, largest } = bundleOf(name);
      expect(Object.keys(lazy), name).to.include.members(verifiers);
      for (const it of ["tinyld", "saxes", "fast-png"])
        expect(largest.map((part) => part.name)).not.to.include(it);
      const knowing = Object.keys(lazy).filter((it) => lazy[it]?.packages.includes("tinyld"));
      expect(knowing.sort()).to.deep.equal(OF_LANGUAGE);
      for (const it of verifiers)
        expect(lazy[it]?.gzip, it).to.be.at.most(OF_LANGUAGE.includes(it) ? 275_000 : 17_000);
    }
  });

  it("load the code that reads a chain only when it is needed", () => {
    const { lazy, largest } = bundleOf("buyer");
    expect(largest.map((part) => part.name)).not.to.include("viem");
    for (const it of ["anchorsIn", "hireEscrowAbi", "testUsdcAbi"])
      expect(lazy[it]?.packages, it).to.include("abitype");
  });

  it("can be made of every published entry point, except those that need Node", async () => {
    const files = ["protocol", "derive", "capabilities", "sdk"].flatMap((room) => {
      const manifest = path.join(repositoryRoot, "packages", room, "package.json");
      const { publishConfig } = JSON.parse(readFileSync(manifest, "utf8"));
      return Object.values<string>(publishConfig.exports).map((file) => path.join("packages", room, file));
    });
    const bundle = (entryPoints: string[]) =>
      build({
        entryPoints,
        absWorkingDir: repositoryRoot,
        bundle: true,
        splitting: true,
        format: "esm",
        platform: "browser",
        outdir: folder,
        write: false,
        logLevel: "silent",
      });
    const ofNode = "packages/sdk/node.ts";
    expect(files).to.have.length.above(12).that.includes(ofNode);
    await bundle(files.filter((file) => file !== ofNode));
    const { message } = await bundle([ofNode]).catch((error) => error);
    expect(message).to.contain('Could not resolve "node:');
  });

  describe("used in a page", function () {
    this.timeout(BROWSER_MS);
    // biome-ignore lint/suspicious/noExplicitAny: the results of a page, from JSON
    let done: any;
    before(async () => {
      // One file is missing, as on a page whose server has newer files.
      rmSync(bundleOf("buyer").lazy.textTranslate?.file as string);
      copyFileSync(SCRIPT, path.join(folder, "page.mjs"));
      const browser = await startBrowser();
      const site = await servePage(folder);
      try {
        const page = await browser.newPage();
        await page.goto(site.url);
        const output = await page.evaluate(
          async ([script, input]) => (await import(script)).use(JSON.parse(input)),
          ["/page.mjs", JSON.stringify(await pageInput())] as const,
        );
        done = JSON.parse(output);
      } finally {
        await browser.close();
        await site.close();
      }
    });

    it("accept the proof that an entry is in a tree, and refuse it for another entry", () => {
      expect(done.inclusion).to.deep.equal([true, false]);
    });

    it("find the signer of a text, and not for another text", () => {
      expect(done.signer[0]).to.equal(account.address.toLowerCase());
      expect(done.signer[1]).not.to.equal(account.address.toLowerCase());
    });

    it("compute the escrow's id of a hire", () => {
      expect(done.escrow).to.equal(escrowId(hire, deployment));
    });

    it("search a node", () => {
      for (const { value, asked } of [done.query, done.buyer.search]) {
        expect(value).to.deep.equal({ agents: [{ agent_id: "0xab" }], next_cursor: null });
        expect(asked).to.have.length(1);
        expect(asked[0]).to.include({ url: "https://node.example/v1/search", method: "POST" });
      }
    });

    it("send requests to sellers without data of the page, and do not follow redirects", () => {
      const { badParams, stranger, neighbour } = done.buyer;
      expect(stranger.code).to.equal("seller_refused");
      // The buyer first asks the node whether the seller may be hired.
      const ofSellers = (asked: { url: string }[]) =>
        asked.filter(({ url }) => !url.startsWith("https://node.example/"));
      // The buyer asks the seller for its terms, and also whether it knows an earlier hire.
      const terms = ofSellers(stranger.asked).find(({ url }) => url.endsWith("/hire"));
      expect(terms).to.deep.include({
        url: "https://seller.example/agent/hire",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
      expect(neighbour).to.include({ code: "private_address" });
      expect(ofSellers(neighbour.asked)).to.deep.equal([]);
      expect(badParams).to.deep.include({ code: "invalid_params", asked: [] });
    });

    it("make no payment, and no judgement of a delivery, if a verifier's file is not available", () => {
      const { withoutFile, resumed, kept } = done.buyer;
      expect(withoutFile).to.deep.include({ code: "capability_unavailable", asked: [] });
      expect(resumed).to.deep.equal([{ code: "capability_unavailable", isOver: false, money: "authorized" }]);
      expect(kept).to.deep.equal(["hire/job_1"]);
    });

    it("report faults in the same words as in Node", async () => {
      const parameters = { account, listings: badOffers, handlers: {}, endpoint: "https://seller.example" };
      const refused = await createSeller({ ...parameters, store: memoryStore() } as never).catch((it) => it);
      expect(refused.issues).to.have.length(2);
      expect(done.seller.issues).to.deep.equal(refused.issues);
    });

    it("derive the same state and digest from a log as in Node", async () => {
      const { store: _, ...state } = await log.derive();
      expect(state.digest).to.match(/^0x[0-9a-f]{64}$/);
      expect(done.derive).to.deep.equal(JSON.parse(JSON.stringify(state)));
    });

    it("verify the results of every capability as in Node", async () => {
      const verified = [];
      for (const { id, params, output } of samples) verified.push(await verifyOutput(id, params, output));
      expect(done.verify).to.deep.equal(JSON.parse(JSON.stringify(verified)));
    });
  });
});
