import { expect } from "chai";
import type { BrowserContext, Page } from "playwright-core";
import { cast, LEDGER } from "../indexer/support/apiStory.ts";
import { BROWSER_MS, sharedBrowser } from "../support/browser.ts";
import { focusComesTo, focused } from "./support/focus.ts";
import { openPortalSite, type PortalSite } from "./support/portalSite.ts";
import { walkByTab } from "./support/walkByTab.ts";

describe("the portal by keyboard", function () {
  this.timeout(BROWSER_MS);
  this.slow(10_000);
  let site: PortalSite;
  let context: BrowserContext;
  let page: Page;
  let end: number;
  let hireId: string;
  let clusterId: string;

  before(async () => {
    site = await openPortalSite();
    const { meta, hires, agent } = await site.story.ask<{
      meta: { time: number };
      hires: { nodes: { id: string }[] };
      agent: { clusterId: string };
    }>(`{ meta { time } hires(first: 1, where: { evidence: SELLER }) { nodes { id } }
          agent(address: "${cast.ring[0]}") { clusterId } }`);
    end = meta.time * 1_000;
    hireId = hires.nodes[0]?.id ?? "";
    clusterId = agent.clusterId;
  });
  after(() => site?.close());
  beforeEach(async () => {
    const browser = await sharedBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.clock.setFixedTime(end + 5_000);
  });
  afterEach(() => context.close());

  const open = async (hash: string, text: string) => {
    await page.goto("about:blank");
    await page.goto(`${site.url}${hash}`);
    await page.getByText(text).first().waitFor();
    await page.locator(".in-turn").first().waitFor({ state: "detached" });
  };
  const said = (text: string) =>
    page.locator(".frame > [role=status]").getByText(text).waitFor({ state: "attached" });
  /** Moves the focus to a control and presses a key, like a reader without a mouse. */
  const press = async (role: "link" | "button", name: string | RegExp, key = "Enter") => {
    const control = page
      .locator("main")
      .getByRole(role, { name, exact: typeof name === "string" })
      .first();
    await control.focus();
    await page.keyboard.press(key);
  };

  const pages: [name: string, hash: () => string, text: string][] = [
    ["the market", () => "#/", "Agents by rank"],
    ["a search", () => "#/?capability=text.task0", "in the order that every node gives"],
    ["an agent", () => `#/agent/${cast.ring[0]}`, "Who stands behind its hires"],
    ["a hire", () => `#/hire/${hireId}`, "What happened"],
    ["a cluster", () => `#/cluster/${clusterId}`, "What put them together"],
    ["an entry of a ledger", () => `#/ledger/${LEDGER}?entry=0`, "What was signed"],
    ["audits", () => "#/audits", "Auditors, and how well they judge"],
    ["the network", () => "#/network", "How they changed"],
    ["verification", () => "#/verify", "Check it yourself"],
    ["a new escrow", () => "#/escrow/new", "the latest deposit first"],
  ];
  // On a phone every table is a list of cards, and the top line has three rows. Two pages are enough to test this
  // layout.
  for (const [width, names] of [
    [1_280, pages],
    [390, pages.slice(0, 2)],
  ] as const)
    it(`reaches every control of ${names.length} pages by Tab, in reading order, with a focus ring, at a width of ${width} pixels`, async () => {
      await page.setViewportSize({ width, height: 900 });
      const wrong: string[] = [];
      for (const [name, hash, text] of names) {
        await open(hash(), text);
        for (const it of await walkByTab(page)) wrong.push(`${name}: ${it}`);
      }
      expect(wrong).to.deep.equal([]);
    });

  it("moves the focus to the heading of a new page, and its first Tab stop skips the top line", async () => {
    await open("#/", "Agents by rank");
    await page.keyboard.press("Tab");
    expect(await focused(page)).to.equal("BUTTON Skip to the page");
    await page.keyboard.press("Enter");
    await focusComesTo(page, "H1 Agents for hire");
    await page.getByRole("link", { name: "Audits" }).focus();
    await page.keyboard.press("Enter");
    await focusComesTo(page, "H1 Second looks");
    await page.goBack();
    await focusComesTo(page, "H1 Agents for hire");
    await press("link", "text.task0");
    await focusComesTo(page, "H1 text.task0");
  });

  it("moves the focus to a useful place when the focused button, row or part of the page is removed", async () => {
    let isAway = true;
    await page.route("**/graphql", (route) => (isAway ? route.abort() : route.continue()));
    await open("#/network", "The node does not answer.");
    isAway = false;
    await press("button", "Ask again");
    await page.getByRole("heading", { name: "Thresholds" }).waitFor();
    await focusComesTo(page, "H1 The rules of this node");
    await page.locator("details summary").focus();
    await page.keyboard.press("Enter");
    await press("button", /^Show all/);
    expect(await focused(page)).to.match(/^TH /);
    // Nothing answers at this address. So the check ends at once, and the field keeps the focus.
    await page.getByLabel("The other node's address").fill("http://127.0.0.1:9");
    await page.keyboard.press("Enter");
    await said("It does not hold. 127.0.0.1:9 gives no digests.");
    expect(await focused(page)).to.equal("INPUT The other node's address");
    // This check does not end. Its button keeps the focus. When Stop is gone, the card has the focus.
    await page.route("**/127.0.0.1:9/**", () => {});
    await press("button", "Compare", " ");
    await said("Asking both nodes");
    expect(await focused(page)).to.equal("BUTTON Compare");
    await press("button", "Stop");
    await focusComesTo(page, "H2 Another node");
  });

  it("moves the focus to the entry that a link or a search shows, and keeps the rest of the page", async () => {
    await open(`#/ledger/${LEDGER}`, "Anchored heads");
    await page.evaluate(() => document.querySelector("main")?.setAttribute("data-same", ""));
    const entry = page
      .locator("section", { has: page.locator("#entries") })
      .locator("tbody th a")
      .first();
    const number = await entry.innerText();
    await entry.press("Enter");
    await focusComesTo(page, `H2 Entry ${number}`);
    await page.getByRole("searchbox", { name: "An entry's number or hash" }).fill("2");
    await page.keyboard.press("Enter");
    await focusComesTo(page, "H2 Entry 2");
    await press("link", "receipt");
    await page.locator("[aria-current=true]", { hasText: "receipt" }).waitFor();
    expect(await focused(page)).to.equal("A receipt");
    expect(await page.locator(".skeleton").count()).to.equal(0);
    await open("#/?capability=text.task0", "4 offers");
    await page.getByLabel("Latency at most (ms)").fill("60");
    await page.keyboard.press("Enter");
    await said("1 offer");
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal("filter-max_latency_ms");
    await page.goBack();
    await said("4 offers");
    expect(await page.getByLabel("Latency at most (ms)").inputValue()).to.equal("");
  });

  it("announces changes to screen readers, and announces a busy market's feed only from time to time", async () => {
    let send = (_: object) => {};
    await page.routeWebSocket("**/v1/stream**", (socket) => {
      send = (data) => socket.send(JSON.stringify(data));
    });
    await open("#/", "Agents by rank");
    await page.getByText("live", { exact: true }).waitFor();
    const rating = (stars: number) =>
      send({
        type: "rating",
        position: String(stars),
        data: { time: end / 1_000, receipt: `r${stars}`, rater: cast.busy, ratee: cast.modest, stars },
      });
    rating(1);
    await said("A rating: 1 of 5 stars.");
    for (const stars of [2, 3, 4]) rating(stars);
    await page.getByText("4 of 5 stars").waitFor();
    await page.waitForTimeout(400);
    await said("A rating: 1 of 5 stars.");
    // A page without TLS has no clipboard. A browser may also refuse the access.
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", {
        value: { writeText: async () => {} },
        configurable: true,
      });
    });
    await press("button", "Copy as curl");
    await said("Copied.");
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await press("button", "Copy as curl");
    await said("Your browser does not let this page copy.");
  });
});
