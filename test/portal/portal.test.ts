import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import { Hono } from "hono";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { servePortal } from "../../indexer/api/portal/servePortal.ts";
import { buildPortal } from "../../portal/build.mjs";
import { cast, LEDGER } from "../indexer/support/apiStory.ts";
import { BROWSER_MS, sharedBrowser } from "../support/browser.ts";
import { expectAccessible, expectAccessibleInBothColours } from "./support/axe.ts";
import { openPortalSite, type PortalSite } from "./support/portalSite.ts";

/** The most bytes, after gzip, of the scripts that a page loads before it runs. */
const FIRST_SCRIPT = 60_000;
const STRANGER = "<img src=x onerror=\"document.title='owned'\">\u202e‮evil";

describe("the portal", function () {
  this.timeout(BROWSER_MS);
  this.slow(10_000);
  let site: PortalSite;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** The URLs that the pages requested, and the errors of the pages. */
  let asked: string[];
  let complaints: string[];
  /** The time in milliseconds at which the story ends. */
  let end: number;
  let hireId: string;
  let clusterId: string;

  before(async () => {
    site = await openPortalSite();
    const { meta } = await site.story.ask<{ meta: { time: number } }>("{ meta { time } }");
    end = meta.time * 1_000;
    const { hires } = await site.story.ask<{ hires: { nodes: { id: string }[] } }>(
      "{ hires(first: 1, where: { evidence: SELLER }) { nodes { id } } }",
    );
    hireId = hires.nodes[0]?.id ?? "";
    const { agent } = await site.story.ask<{ agent: { clusterId: string } }>(
      `{ agent(address: "${cast.ring[0]}") { clusterId } }`,
    );
    clusterId = agent.clusterId;
    browser = await sharedBrowser();
  });
  after(async () => {
    await site?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.setDefaultTimeout(120_000);
    await page.clock.setFixedTime(end + 5_000);
    [asked, complaints] = [[], []];
    page.on("request", (it) => asked.push(it.url()));
    page.on("pageerror", (it) => complaints.push(it.message));
    page.on("console", (it) => {
      // The story has no stream.
      if (it.type() === "error" && !it.text().includes("/v1/stream")) complaints.push(it.text());
    });
  });
  afterEach(() => context.close());

  /** Opens a page. Waits for its main content and for the parts further down. */
  const open = async (hash: string, text: string) => {
    await page.goto(`${site.url}${hash}`);
    await page.getByText(text).first().waitFor();
    await page.locator(".in-turn").first().waitFor({ state: "detached" });
  };
  /** Changes the node's answers to GraphQL queries. */
  const answerWith = (change: (json: string) => string) =>
    page.route("**/graphql", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: change(await response.text()) });
    });

  const pages: [name: string, hash: () => string, text: string][] = [
    ["the market", () => "#/", "Agents by rank"],
    ["a search", () => "#/?capability=text.task0", "in the order that every node gives"],
    ["a search that finds nothing", () => "#/?capability=text.nothing", "No offers"],
    ["an agent", () => `#/agent/${cast.busy}`, "Why this tier"],
    ["a member of a ring", () => `#/agent/${cast.ring[0]}`, "Its cluster"],
    [
      "an agent with private metrics",
      () => `#/agent/${cast.secret}`,
      "It sells, and its metrics are private",
    ],
    ["a hire", () => `#/hire/${hireId}`, "What happened"],
    ["a cluster", () => `#/cluster/${clusterId}`, "What put them together"],
    ["a cluster that does not exist", () => `#/cluster/clst_${"A".repeat(26)}`, "No such cluster"],
    ["a hire that does not exist", () => `#/hire/0x${"ab".repeat(32)}-1`, "No such hire"],
    ["a ledger", () => `#/ledger/${LEDGER}`, "Anchored heads"],
    ["an entry of a ledger", () => `#/ledger/${LEDGER}?entry=0`, "What was signed"],
    ["a ledger that does not exist", () => `#/ledger/0x${"ab".repeat(32)}`, "No such ledger"],
    ["audits", () => "#/audits", "Auditors, and how well they judge"],
    ["the network", () => "#/network", "How they changed"],
    ["verification", () => "#/verify", "Check it yourself"],
    ["verification of an agent", () => `#/verify/${cast.busy}`, "This agent's figures"],
    ["a new escrow", () => "#/escrow/new", "the latest deposit first"],
    ["an address that is nobody's", () => `#/agent/0x${"ab".repeat(20)}`, "No agent has this address"],
    ["a link that lost a part", () => "#/agent/0x12", "There is no such page"],
  ];

  it("has a title and at most one query for each page, no fault that axe finds, and fits a phone", async () => {
    for (const [name, hash, text] of pages) {
      // The portal keeps answers from page to page. Only a new load asks the node again.
      await page.goto("about:blank");
      asked = [];
      await open(hash(), text);
      // The page sets its title after it shows its first words.
      await page.waitForFunction(() => document.title.endsWith(" · Tallystick"));
      const questions = asked.filter((it) => /\/(?:graphql|v1\/(?!stream).*)$/.test(new URL(it).pathname));
      expect(questions, name).to.have.length.at.most(1);
      await expectAccessibleInBothColours(page, name);
      await page.setViewportSize({ width: 360, height: 740 });
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(over, `${name} at 360`).to.equal(0);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
    expect(complaints).to.deep.equal([]);
  });

  it("asks only for the entry when the reader searches for another entry of a ledger", async () => {
    await open(`#/ledger/${LEDGER}?entry=1`, "What was signed");
    asked = [];
    await page.getByRole("searchbox", { name: "An entry's number or hash" }).fill("2");
    await page.getByRole("button", { name: "Find", exact: true }).last().click();
    await page.getByRole("heading", { name: "Entry 2" }).waitFor();
    await page.getByText("What was signed").first().waitFor();
    expect(asked.filter((it) => it.endsWith("/graphql"))).to.have.length(1);
  });

  it("makes requests only to the node, one query for each page", async () => {
    await open(`#/agent/${cast.busy}`, "Why this tier");
    await page.waitForTimeout(300);
    for (const url of asked) expect(url).to.satisfy((it: string) => it.startsWith(site.url));
    expect(asked.filter((it) => it.endsWith("/graphql"))).to.have.length(1);
  });

  it("loads few bytes before it runs", () => {
    const html = readFileSync(path.join(site.folder, "index.html"), "utf8");
    const scripts = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(
      ([, name = ""]) => name,
    );
    expect(scripts).to.have.length.above(0);
    const sources = scripts.map((name) => readFileSync(path.join(site.folder, name), "utf8")).join();
    // Words that are in a schema library and in viem, even in their minified form.
    for (const word of ["invalid_union", "viem@"]) expect(sources).not.to.contain(word);
    const sizes = scripts.map(
      (name) => gzipSync(readFileSync(path.join(site.folder, name)), { level: 9 }).length,
    );
    expect(sizes.reduce((sum, it) => sum + it, 0)).to.be.at.most(FIRST_SCRIPT);
  });

  it("runs only its own files, and no other page can frame it", async () => {
    const { headers, text } = await fetch(site.url).then(async (it) => ({
      headers: it.headers,
      text: await it.text(),
    }));
    const policy = headers.get("content-security-policy") ?? "";
    const own = /http-equiv="content-security-policy" content="([^"]+)"/.exec(text)?.[1];
    // The page itself contains the policy too, for hosts that send no headers.
    expect(policy).to.equal(`${own}; frame-ancestors 'none'`);
    expect(policy).to.contain("default-src 'none'").and.not.contain("unsafe-inline");
    expect(policy).not.to.match(/(?:script|style|img|font)-src [^;]*https?:/);
    expect(headers.get("cross-origin-opener-policy")).to.equal("same-origin-allow-popups");
    expect(headers.get("x-content-type-options")).to.equal("nosniff");
    await open("#/", "Agents by rank");
    const refused = await page.evaluate(async () => {
      const refused: string[] = [];
      document.addEventListener("securitypolicyviolation", (it) => refused.push(it.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "document.title = 'owned'";
      document.head.append(script);
      const image = document.createElement("img");
      image.setAttribute("onerror", "document.title = 'owned'");
      image.src = "https://stranger.example/x.png";
      document.body.append(image);
      const until = performance.now() + 60_000;
      while (new Set(refused).size < 3 && performance.now() < until)
        await new Promise((wait) => setTimeout(wait, 50));
      // The policy of the header and the policy in the page both refuse it.
      return [...[...new Set(refused)].sort(), document.title];
    });
    expect(refused).to.deep.equal(["img-src", "script-src-attr", "script-src-elem", "Market · Tallystick"]);
  });

  it("works on any host and under any path, with the node's URL as a parameter of its own URL", async () => {
    const app = new Hono().route("/some/where", servePortal(site.folder));
    app.get("/some/where/", (context) => app.request("/some/where", context.req.raw));
    const server = createAdaptorServer({ fetch: app.fetch });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as AddressInfo;
    try {
      const node = encodeURIComponent(site.url);
      await page.goto(`http://127.0.0.1:${port}/some/where/?node=${node}#/agent/${cast.busy}`);
      await page.getByText("Why this tier").first().waitFor();
      expect(asked.filter((it) => it.endsWith("/graphql"))).to.deep.equal([`${site.url}graphql`]);
      // The author of the link chose the node. So the top of the page must name the node too.
      for (const part of ["header", "footer"])
        expect(await page.locator(part).innerText()).to.contain(new URL(site.url).host);
      const curl = await page.evaluate(async () => {
        let copied = "";
        const writeText = async (text: string) => {
          copied = text;
        };
        Object.defineProperty(navigator, "clipboard", { value: { writeText } });
        document.querySelector<HTMLElement>("[aria-label='Copy as curl']")?.click();
        await new Promise((wait) => setTimeout(wait));
        return copied;
      });
      expect(curl).to.match(/^curl \S+\/graphql -H 'content-type: application\/json' -d '\{"query":/);
    } finally {
      await new Promise<void>((closed) => {
        server.close(() => closed());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    }
  });

  it("accepts paths without # in its URLs", async () => {
    for (const [path, hash] of [
      [`agent/${cast.busy}`, `#/agent/${cast.busy}`],
      ["verify", "#/verify"],
    ]) {
      await page.goto(`${site.url}${path}`);
      expect(page.url()).to.equal(`${site.url}${hash}`);
    }
  });

  it("explains why an agent has its tier, with the numbers", async () => {
    await open(`#/agent/${cast.busy}`, "Why this tier");
    const gates = await page.locator(".gates li").allInnerTexts();
    expect(gates).to.have.length(4);
    const { agent } = await site.story.ask<{ agent: { explain: { numerator: string } } }>(
      `{ agent(address: "${cast.busy}") { explain(field: SUCCESS_RATE) { numerator } } }`,
    );
    expect(gates[0]).to.contain(`${agent.explain.numerator} of 10`);
  });

  it("shows the parts of a figure when the reader opens it", async () => {
    await open(`#/agent/${cast.busy}`, "Every figure");
    const figure = page.locator(".figures details").first();
    await figure.locator("summary").focus();
    await page.keyboard.press("Enter");
    expect(await figure.innerText()).to.contain("Σw of successes / Σw of hires that are not neutral");
  });

  it("shows a ring of self-hires before anything else", async () => {
    await open(`#/agent/${cast.ring[0]}`, "Before you hire it");
    const notice = await page.locator(".notice.warn").innerText();
    expect(notice).to.contain("It is one of 5 agents that seem to have one owner");
  });

  it("draws the top of a long page first and the rest in later frames, a limited part in each frame", async () => {
    for (const [hash, text, most] of [
      [`#/agent/${cast.busy}`, "Every figure", 200],
      ["#/", "Latest", 200],
    ] as const) {
      await page.goto("about:blank");
      await page.addInitScript(() => {
        const scope = globalThis as unknown as { drawn: number[] };
        scope.drawn = [];
        // A page does not wait longer than 250 ms for a frame. A slow machine may need longer for one.
        const { setTimeout: real } = globalThis;
        globalThis.setTimeout = ((run: () => void, ms: number, ...more: []) =>
          real(run, ms === 250 ? 600_000 : ms, ...more)) as never;
        const note = () => {
          const count = document.querySelectorAll("main *").length;
          if (document.querySelector("main .skeleton") === null && count !== scope.drawn.at(-1))
            scope.drawn.push(count);
          requestAnimationFrame(note);
        };
        requestAnimationFrame(note);
      });
      await open(hash, text);
      await page.waitForTimeout(100);
      const drawn = (await page.evaluate(() => (globalThis as unknown as { drawn: number[] }).drawn)).filter(
        (it) => it > 0,
      );
      const added = drawn.map((it, n) => it - (drawn[n - 1] ?? 0));
      expect(added[0], `${hash}: ${added}`).to.be.within(20, most);
      expect(Math.max(...added), `${hash}: ${added}`).to.be.below(400);
      expect(added.length, `${hash}: ${added}`).to.be.above(3);
    }
  });

  it("shows no text that a link gives as a capability or a type, and only the entry or agent that the URL names", async () => {
    await open(
      `#/?capability=${encodeURIComponent("Your wallet is at risk: pay 0x1")}`,
      "That is no capability",
    );
    expect(await page.locator("body").innerText()).not.to.contain("at risk");
    expect(await page.title()).to.equal("No such capability · Tallystick");
    await open(`#/ledger/${LEDGER}?type=${encodeURIComponent("Pay 0x1 first")}`, "Anchored heads");
    expect(await page.locator("body").innerText()).not.to.contain("Pay 0x1 first");
    const [asked, other] = [cast.busy, cast.modest];
    await answerWith((json) =>
      json.replace(`"agent":{"address":"${asked}"`, `"agent":{"address":"${other}"`),
    );
    await open(`#/agent/${asked}`, "Why this tier");
    expect(await page.locator("main h1").innerText()).to.contain(asked);
    await page.unrouteAll();
    await answerWith((json) => json.replace(/("entry":\{"ledger":"[^"]+","seq":)1,/, "$12,"));
    await open(`#/ledger/${LEDGER}?entry=1`, "The node answers with another entry");
  });

  it("sorts a table by keyboard", async () => {
    await open("#/", "Agents by rank");
    const hires = page.getByRole("button", { name: "Hires", exact: true });
    await hires.focus();
    await page.keyboard.press("Enter");
    const head = page.getByRole("columnheader", { name: "Hires" });
    expect(await head.getAttribute("aria-sort")).to.equal("descending");
    const column = (await page.locator("tbody tr td:nth-child(4)").allInnerTexts()).map(Number);
    expect(column).to.deep.equal(column.toSorted((a, b) => b - a));
  });

  it("marks a search as invalid if it is not an address or a capability, and opens an agent's page by its address", async () => {
    await open("#/", "Agents by rank");
    const field = page.getByRole("searchbox", { name: "An agent's address, or a capability" });
    await field.fill("what is this?");
    await field.press("Enter");
    expect(await field.getAttribute("aria-invalid")).to.equal("true");
    await field.fill(cast.busy.toUpperCase().replace("0X", "0x"));
    await field.press("Enter");
    await page.getByText("Why this tier").waitFor();
  });

  it("keeps the filters of a search in its URL", async () => {
    await open("#/?capability=text.task0", "4 offers");
    await page.getByLabel("Latency at most (ms)").fill("60");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("1 offer").waitFor();
    expect(page.url()).to.contain("max_latency_ms=60");
  });

  it("shows strangers' text as plain text", async () => {
    await answerWith((json) => json.replace(/"endpoint":"[^"]*"/, `"endpoint":${JSON.stringify(STRANGER)}`));
    await open(`#/agent/${cast.busy}`, "Why this tier");
    expect(await page.locator("main code").first().innerText()).to.equal(
      "<img src=x onerror=\"document.title='owned'\"> evil",
    );
    expect(await page.locator("main img").count()).to.equal(0);
    expect(await page.title()).not.to.equal("owned");
  });

  it("shows an agent's ERC-8004 identities with their counts of feedback, and nothing for agents without an identity", async () => {
    await open(`#/agent/${cast.busy}`, "Why this tier");
    expect(await page.getByText("Registered as (ERC-8004)").count()).to.equal(0);
    const counts = { given: 9, backed: 2, self: 3, unproven: 4, revoked: 1 };
    const link = { isCurrent: true, fromTime: 1_767_225_600, untilTime: null, counts };
    const nodes = [
      { ...link, id: "22/1", identity: { id: "22", uri: STRANGER } },
      { ...link, id: "7/2", isCurrent: false, untilTime: 1_767_312_000, identity: { id: "7", uri: "" } },
    ];
    await answerWith((json) => {
      const answer = JSON.parse(json);
      answer.data.agent.identities = { nodes, pageInfo: { hasNextPage: true } };
      return JSON.stringify(answer);
    });
    await page.reload();
    const block = page.getByLabel("Identities of ERC-8004");
    await block.waitFor();
    const text = await block.innerText();
    expect(text).to.contain("Identity 22").and.contain("its wallet now").and.contain("Identity 7");
    expect(text).to.contain(
      "Feedback: 9 in all, 2 backed by a hire, 4 unproven, 3 about itself, 1 taken back",
    );
    expect(text).to.contain("There are more").and.contain("This is advice: no figure above depends on it");
    // A stranger wrote the identity's URI.
    expect(await block.locator("code").first().innerText()).to.contain("<img src=x");
    expect(await block.locator("img").count()).to.equal(0);
    expect(await page.title()).not.to.equal("owned");
    await expectAccessible(page, "an agent with identities");
  });

  it("shows the node's error, and asks again on request", async () => {
    let isAway = true;
    await page.route("**/graphql", (route) =>
      isAway
        ? route.fulfill({
            status: 503,
            json: {
              errors: [{ message: "The database is away.", extensions: { code: "DATABASE_UNAVAILABLE" } }],
            },
          })
        : route.continue(),
    );
    await open("#/", "The database is away.");
    await expectAccessible(page, "an error");
    isAway = false;
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("heading", { name: "Agents by rank" }).waitFor();
    expect(await page.getByText("The database is away.").count()).to.equal(0);
  });

  it("shows that it waits, and still shows earlier data while the node does not answer", async () => {
    await open(`#/agent/${cast.busy}`, "Why this tier");
    await page.route("**/graphql", (route) => route.abort());
    await open("#/", "The node does not answer.");
    await page.goBack();
    await page.getByText("The data below is what the node said").waitFor();
    expect(await page.getByText("Why this tier").count()).to.equal(1);
    await page.unrouteAll();
    await page.route("**/graphql", () => {});
    await page.goto(`${site.url}#/agent/${cast.modest}`);
    await page.getByRole("status").getByText("Asking the node for the agent").waitFor({ state: "attached" });
    await expectAccessible(page, "waiting");
  });

  it("reports that a node is behind, or waits for a ledger", async () => {
    await page.clock.setFixedTime(end + 3 * 3_600_000);
    await open("#/", "This node is behind");
    await answerWith((json) =>
      json.replace(
        '"blockedAtSegment":null',
        `"blockedAtSegment":{"ledger":"0x1e","from":"50","to":"60","reason":"not to be had","since":1}`,
      ),
    );
    await page.reload();
    await page.getByText("This node waits for entries of a ledger").waitFor();
    await expectAccessible(page, "a blocked node");
    // No answer may break the message about the node, which is on every page.
    await page.unrouteAll();
    await answerWith((json) =>
      json.replace('"blockedAtTransfers":null', '"blockedAtTransfers":{"reason":{"toString":1}}'),
    );
    await page.reload();
    await page.getByText("This node waits for transfers of the token").waitFor();
    await page.getByText("Agents by rank").first().waitFor();
  });

  it("shows everything else if a node sells its insights", async () => {
    await answerWith((json) => {
      const answer = JSON.parse(json);
      for (const row of answer.data.capabilities?.nodes ?? []) row.window = null;
      if (answer.data.agent) answer.data.agent.series = null;
      return JSON.stringify(answer);
    });
    await open("#/", "Agents by rank");
    expect(await page.getByText("What is hired").count()).to.equal(0);
    await open(`#/agent/${cast.busy}`, "Why this tier");
    expect(await page.getByText("Hires day by day").count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
  });

  /**
   * A node may send these in place of a text: markup, an address that runs a script, the name of a property that every
   * object has, and a very long text.
   */
  const words = [STRANGER, "javascript:document.title='owned'//", "constructor", "x".repeat(20_000)];
  /** Extreme names: with wide characters, with characters of no width, and from right to left. */
  const names = [
    "漢".repeat(200),
    "a".repeat(128),
    "\u200b".repeat(100),
    "ﷺ".repeat(200),
    "עברית".repeat(25),
  ];
  const HUGE = "123456789012345678901234567890";
  /**
   * `absurd` does not change these values: addresses, ids, days and enum values. So a page leaves out none of its parts,
   * and shows each part with absurd content.
   */
  const KEPT = /^(?:0x|clst_|[0-9a-f]{64}|\d{4}-\d\d|[A-Z_]+$)/;
  const absurd = (it: unknown, n: number): unknown => {
    if (typeof it === "number") return n % 3 === 0 ? it : Number(HUGE);
    if (typeof it !== "string" || KEPT.test(it)) return it;
    return /^-?\d+(?:\.\d+)?$/.test(it) ? HUGE : names[n % names.length];
  };
  /** The ways in which the node changes its answers. `n` is the number of the value. */
  const lies: [name: string, lie: (value: unknown, key: string, n: number) => unknown][] = [
    ["texts", (it, _, n) => (typeof it === "string" ? words[n % words.length] : it)],
    ["numbers", (it, _, n) => (typeof it === "number" ? [-1, 1e300, -1e300, 0.5][n % 4] : it)],
    ["other types", (it) => (typeof it === "string" ? 7 : typeof it === "number" ? "NaN" : it)],
    ["no lists", (it) => (Array.isArray(it) ? null : it)],
    ["absurd figures and names", (it, _, n) => absurd(it, n)],
    ["nothing", (it, key) => (key === "data" || key === "" ? it : null)],
  ];

  /**
   * The elements that reach beyond the right edge of the page. Elements in a part that scrolls sideways are allowed to.
   */
  const overflowing = () => {
    const width = document.documentElement.clientWidth;
    const scrolls = (it: Element) => !["visible", "clip"].includes(getComputedStyle(it).overflowX);
    const isScrolled = (it: Element): boolean =>
      it.parentElement !== null && (scrolls(it.parentElement) || isScrolled(it.parentElement));
    const out = [...document.querySelectorAll("main *, footer *, header *")].filter(
      (it) => it.getBoundingClientRect().right > width + 1 && !isScrolled(it),
    );
    const over = document.documentElement.scrollWidth - width;
    return [
      ...(over > 0 ? [`scrolls sideways by ${over}`] : []),
      ...out
        .slice(0, 3)
        .map((it) => `${it.tagName}.${it.getAttribute("class")}: ${it.textContent?.slice(0, 40)}`),
    ];
  };

  it("reports an answer that is not in the form of the node's API, runs no script from it, and fits a phone", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    let lie: (key: string, value: unknown) => unknown = (_, value) => value;
    const told = new Map<string, string>();
    await page.route("**/graphql", async (route) => {
      const asked = route.request().postData() ?? "";
      const text = told.get(asked) ?? (await (await route.fetch()).text());
      told.set(asked, text);
      await route.fulfill({ contentType: "application/json", body: JSON.stringify(JSON.parse(text, lie)) });
    });
    const shown = [
      "#/",
      `#/agent/${cast.ring[0]}`,
      `#/hire/${hireId}`,
      `#/cluster/${clusterId}`,
      `#/ledger/${LEDGER}?entry=0`,
      "#/audits",
      "#/network",
      `#/escrow/0x${"ab".repeat(32)}`,
      "#/escrow/new",
    ];
    const found: string[] = [];
    for (const [name, change] of lies) {
      let n = 0;
      lie = (key, value) => change(value, key, n++);
      // The portal keeps answers from page to page. Only a new load asks the node again.
      await page.goto("about:blank");
      for (const hash of shown) {
        await page.evaluate(() => {
          const shown = document.querySelector("main h1") ?? document.querySelector("main > :last-child");
          shown?.setAttribute("data-before", "");
        });
        await page.goto(`${site.url}${hash}`);
        await page.waitForFunction(() => document.querySelector("[data-before]") === null);
        await page.waitForFunction(() => {
          const main = document.querySelector("main");
          const isWaiting = main?.querySelector(":is(.skeleton, .in-turn)") !== null;
          return main !== null && main.innerText.trim() !== "" && !isWaiting;
        });
        const wrong = await page.evaluate(() => {
          const text = document.querySelector("main")?.innerText ?? "";
          const live =
            "main :is(img, script, iframe, style, [href^='javascript:' i], [onerror]), .bottom [href^='javascript:' i]";
          return [
            ...[...document.querySelectorAll(live)].map((it) => it.outerHTML.slice(0, 200)),
            // Characters that change the direction of the text around them.
            ...(text.match(/.{0,30}[\u202a-\u202e\u2066-\u2069].{0,30}/g) ?? []),
            ...(document.querySelectorAll(".top nav a").length === 5 ? [] : ["without its bar"]),
            ...(document.title.endsWith(" · Tallystick") ? [] : [document.title]),
          ];
        });
        const out = await page.evaluate(overflowing);
        for (const it of [...wrong, ...out]) found.push(`${name}, ${hash}: ${it}`);
      }
    }
    expect(found).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it("stops reading an endless answer, and does not ask again at once if the node's Retry-After is negative", async () => {
    let questions = 0;
    await page.route("**/graphql", async (route) => {
      questions++;
      await route.fulfill({
        status: 429,
        headers: { "retry-after": "-5", "access-control-expose-headers": "retry-after" },
        json: { data: null, errors: [{ message: `slow \u202edown`, extensions: { code: 7 } }] },
      });
    });
    await open("#/", "slow down");
    await page.waitForTimeout(400);
    expect(questions).to.equal(1);
    await page.unrouteAll();
    const endless = createAdaptorServer({
      fetch: () => {
        const part = new TextEncoder().encode(" ".repeat(1 << 20));
        return new Response(new ReadableStream({ pull: (it) => it.enqueue(part) }), {
          headers: { "access-control-allow-origin": "*", "access-control-allow-headers": "*" },
        });
      },
    });
    await new Promise<void>((listening) => endless.listen(0, "127.0.0.1", listening));
    try {
      const node = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`;
      // The end must come by the size of the answer. On a slow machine the page's time limit might come before.
      await page.addInitScript(() => {
        AbortSignal.timeout = () => new AbortController().signal;
      });
      await page.goto(`${site.url}?node=${encodeURIComponent(node)}#/network`);
      await page.getByText("something that is not JSON").waitFor();
    } finally {
      endless.close();
      if ("closeAllConnections" in endless) endless.closeAllConnections();
    }
  });

  it("shows the hash of its build, and a second build has the same hash", async () => {
    await open("#/", "Agents by rank");
    const shown = await page.locator('footer [title^="sha256:"]').getAttribute("title");
    expect(shown).to.equal(site.build);
    const again = mkdtempSync(path.join(tmpdir(), "tallystick-portal-"));
    try {
      expect(await buildPortal(again)).to.equal(site.build);
    } finally {
      rmSync(again, { recursive: true, force: true });
    }
  });
});
