import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { placeGraph } from "../../portal/cluster/clusterGraph.ts";
import { type Link, layoutGraph } from "../../portal/cluster/layoutGraph.ts";
import { type Box, placeLabel } from "../../portal/cluster/placeLabel.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { cast } from "../indexer/support/apiStory.ts";
import { BROWSER_MS, startBrowser } from "../support/browser.ts";
import { openPortalSite, type PortalSite } from "./support/portalSite.ts";

/** The number of wallets in the large graph. */
const LARGE = 5_000;

/** Some wallets fund fifty wallets each. Other wallets fund these funders. Some wallets pay each other. */
function linksOf(count: number): Link[] {
  return Array.from({ length: count - 1 }, (_, n): Link => [Math.floor(n / 50), n + 1]).concat(
    Array.from({ length: Math.floor(count / 10) }, (_, n): Link => [n, (n * 7919 + 13) % count]),
  );
}

const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

describe("a cluster's graph", function () {
  this.timeout(BROWSER_MS);
  this.slow(10_000);
  let site: PortalSite;
  let browser: Browser;
  let page: Page;
  before(async () => {
    site = await openPortalSite();
    // A machine without a graphics card draws WebGL on its processor.
    browser = await startBrowser(["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]);
    page = await browser.newPage();
    page.setDefaultTimeout(120_000);
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  it("has exactly the same positions in Node and in Chromium", async () => {
    const source = readFileSync(path.join(repositoryRoot, "portal/cluster/layoutGraph.ts"), "utf8");
    const program = stripTypeScriptTypes(source).replaceAll("export function", "function");
    const links = linksOf(600);
    await page.goto("about:blank");
    const there = await page.evaluate(
      `(() => { ${program}\nreturn [...layoutGraph(600, ${JSON.stringify(links)})]; })()`,
    );
    expect(there).to.deep.equal([...layoutGraph(600, links)]);
  });

  it("has the same positions for any order of the node's answer, and no two wallets at one position", () => {
    const edges = linksOf(300).map(([from, to]) => ({ from: addressOf(from), to: addressOf(to) }));
    const nodes = Array.from({ length: 300 }, (_, n) => ({
      address: addressOf(n),
      isMember: n > 10,
      kind: n === 0 ? "hub" : null,
    }));
    const placed = placeGraph({ nodes, edges });
    expect(placeGraph({ nodes: nodes.toReversed(), edges: edges.toReversed() })).to.deep.equal(placed);
    expect(new Set(placed.wallets.map(({ x, y }) => `${x} ${y}`)).size).to.equal(300);
    for (const { x, y } of placed.wallets) expect(Number.isFinite(x) && Number.isFinite(y)).to.equal(true);
  });

  it("has labels that are inside the drawing and do not overlap, on a phone and on a wide screen", () => {
    for (const area of [
      { width: 320, height: 290 },
      { width: 1_100, height: 450 },
    ]) {
      const edges = linksOf(40).map(([from, to]) => ({ from: addressOf(from), to: addressOf(to) }));
      const { wallets } = placeGraph({ nodes: [], edges });
      const extent = Math.max(...wallets.map(({ x, y }) => Math.max(Math.abs(x), Math.abs(y))));
      const placed: Box[] = [];
      for (const { x, y } of wallets) {
        const at = { x: (x / extent + 1) / 2, y: (y / extent + 1) / 2 };
        const label = { radius: 8, width: 110, height: 18 };
        const box = placeLabel({ x: at.x * area.width, y: at.y * area.height, ...label }, area, placed);
        if (box === null) continue;
        expect(box.left).to.be.at.least(0);
        expect(box.left + box.width).to.be.at.most(area.width);
        expect(box.top).to.be.at.least(0);
        expect(box.top + box.height).to.be.at.most(area.height);
        for (const it of placed) {
          const apart =
            it.left + it.width <= box.left ||
            box.left + box.width <= it.left ||
            it.top + it.height <= box.top ||
            box.top + box.height <= it.top;
          expect(apart, JSON.stringify([it, box])).to.equal(true);
        }
        placed.push(box);
      }
      expect(placed.length).to.be.above(5);
    }
    const alone = { radius: 8, width: 110, height: 18 };
    expect(placeLabel({ x: 10, y: 50, ...alone }, { width: 300, height: 100 }, [])).to.include({ left: 22 });
    expect(placeLabel({ x: 10, y: 50, ...alone }, { width: 60, height: 100 }, [])).to.equal(null);
  });

  it("can be drawn with 5,000 wallets; the test prints the time", async () => {
    const { agent } = await site.story.ask<{ agent: { clusterId: string } }>(
      `{ agent(address: "${cast.ring[0]}") { clusterId } }`,
    );
    await page.route("**/graphql", async (route) => {
      const response = await route.fetch();
      const body = JSON.parse(await response.text());
      if (body.data.cluster) {
        body.data.cluster.graph.nodes = Array.from({ length: LARGE }, (_, n) => ({
          address: addressOf(n),
          isMember: n >= 100,
          kind: null,
        }));
        body.data.cluster.graph.edges = linksOf(LARGE)
          .slice(0, LARGE)
          .map(([from, to], n) => ({
            ...{ from: addressOf(from), to: addressOf(to), amountUsdc: "1.00", reason: "FUNDING" },
            ...{ time: 1, block: n, log: 0 },
          }));
      }
      await route.fulfill({ response, json: body });
    });
    await page.goto(`${site.url}#/cluster/${agent.clusterId}`);
    const canvas = page.locator(`.graph [data-drawn-ms]`);
    await canvas.waitFor();
    const took = Number(await canvas.getAttribute("data-drawn-ms"));
    expect(await page.locator(".graph canvas").count()).to.be.at.least(2);
    console.log(`        ${LARGE} wallets placed and drawn in ${took} ms`);
    expect(took).to.be.above(0);
  });

  it("is replaced by a table in a browser without WebGL", async () => {
    await page.unrouteAll();
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await page.reload();
    await page.getByText("This browser does not draw the graph").waitFor();
    expect(await page.getByRole("heading", { name: "The transfers behind it" }).count()).to.equal(1);
  });
});
