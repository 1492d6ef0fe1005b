import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import type { DeriveEvent, ParamsEvent } from "tallystick-derive/events";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { type EventLog, HOUR, wallet } from "../../derive/eventLog.ts";
import { BROWSER_MS, servePage, startBrowser } from "../../support/browser.ts";
import { type FakeNode, fakeNode, linesOf, pageAnswer } from "./fakeNode.ts";
import type { Outcome, Task } from "./page.ts";
import { story } from "./story.ts";

/**
 * The long log has 20,000 lines: the first line, two lines for each hire between two ticks, and a line for each tick.
 * With LOG_TICKS=990 it has 100,000 lines.
 */
const [TICKS, HIRES] = [Number(process.env.LOG_TICKS ?? 198), 50];

/** What nodes say of pages that are full and final. */
const FOREVER = "public, max-age=31536000, immutable";

/**
 * Adds reports of outcomes at the end of a log. To get the figures in its digest, the derivation searches for these
 * figures digit by digit.
 */
function withOutcomes(log: EventLog): EventLog {
  const operator = wallet(20);
  const first = log.events[0] as ParamsEvent;
  log.events[0] = { ...first, params: { ...first.params, operator } } as DeriveEvent;
  const agents = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => {
      const [ok, fail, compared] = [7 * n + 1, n % 6, n % 3];
      const c = { ok: ok * (1_000 - 20 * n), fail: fail * 300 };
      return [wallet(100 + n), { ok, fail, c, divergence: { compared, sum: compared * 12_345 } }];
    }),
  );
  log.record("outcomes", operator, { hour: Math.floor(log.time / HOUR) - 1, part: 0, agents });
  return log.after(60).tick();
}

describe("a node's log in a page", function () {
  this.timeout(BROWSER_MS);
  this.slow(30_000);
  let folder: string;
  let site: Awaited<ReturnType<typeof servePage>>;
  let browser: Browser;
  let page: Page;
  const long = withOutcomes(story(TICKS, HIRES));
  const log = story(40);
  /** The node with the long log, and the node with the short log. */
  let longNode: FakeNode;
  let node: FakeNode;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-page-"));
    await build({
      entryPoints: {
        page: "test/sdk/openLog/page.ts",
        logWorker: "packages/sdk/openLog/logWorker.ts",
      },
      absWorkingDir: repositoryRoot,
      outdir: folder,
      bundle: true,
      format: "esm",
      platform: "browser",
      target: "es2022",
      logLevel: "silent",
    });
    site = await servePage(folder);
    browser = await startBrowser();
    page = await browser.newPage();
    await page.goto(site.url);
    [longNode, node] = [await fakeNode(long), await fakeNode(log)];
  });
  beforeEach(() => {
    node.on = (_, it) => it;
    node.asked.length = 0;
  });
  after(async () => {
    await browser?.close();
    await site?.close();
    await Promise.all([longNode, node].map((it) => it?.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  const derive = (url: string, task: Partial<Task> = {}): Promise<Outcome> =>
    page.evaluate(async ([script, task]) => (await import(script as string)).derive(task), [
      "/page.js",
      { url, trustSignatures: true, abortAfter: 0, ...task },
    ] as const);

  it("gives the same state and digest at every tick of a long log, while the page stays responsive", async () => {
    const lines = long.events.length;
    expect(lines).to.be.at.least(TICKS * 101);
    const outcome = await derive(longNode.url);
    expect(outcome).to.have.property("derived");
    const { derived, progress, beats } = outcome as Extract<Outcome, { derived: unknown }>;
    const { store: _, ...state } = await long.derive();
    expect(derived.snapshot).to.deep.equal(JSON.parse(JSON.stringify(state)));
    expect(derived).to.deep.include({
      events: lines,
      lines: { kept: 0, fetched: lines, last: lines },
      agreed: TICKS + 1,
    });
    expect(progress).to.equal(Math.ceil(lines / 5_000));
    // A page that the derivation blocks has no beats.
    expect(beats).to.be.above(progress);
  });

  it("is refused with the first wrong tick if one of its pages is false", async () => {
    const at = log.events.findIndex(({ kind }, n) => n > 60 && kind === "transfer");
    const tick = log.events.findIndex(({ kind }, n) => n > at && kind === "tick");
    node.on = (asked, it) =>
      asked.startsWith("/v1/events?after=0&")
        ? pageAnswer(
            linesOf(it).map((line, n) => (n === at ? line.replace('"value":"5', '"value":"6') : line)),
            { after: 0, last: log.events.length },
          )
        : it;
    const outcome = await derive(node.url);
    expect(outcome).to.include({ code: "digest_differs" });
    expect((outcome as { message: string }).message).to.contain(
      `The tick of block ${log.events[tick]?.block}, line ${tick + 1}, is the first that differs`,
    );
  });

  it("is read anew after the node gave other pages that the browser may keep", async () => {
    node.on = (path, it) => {
      const body = path.startsWith("/v1/digests") ? it.body.replaceAll(/"0x[0-9a-f]{2}/g, '"0x00') : it.body;
      return { ...it, body, headers: { ...it.headers, "cache-control": FOREVER } };
    };
    expect(await derive(node.url)).to.include({ code: "digest_differs" });
    node.on = (_, it) => it;
    expect(await derive(node.url)).to.have.property("derived");
  });

  it("is refused if its signatures are checked and invalid", async () => {
    const outcome = await derive(node.url, { trustSignatures: false });
    expect(outcome).to.include({ code: "digest_differs" });
  });

  it("is not read further after the page aborts", async () => {
    longNode.asked.length = 0;
    let pages = 0;
    const aborted = Promise.withResolvers<void>();
    // The third page comes only after the abort, so a busy machine does not read on before it.
    longNode.on = async (asked, it) => {
      if (asked.startsWith("/v1/events?") && ++pages > 2) await aborted.promise;
      return it;
    };
    expect(await derive(longNode.url, { abortAfter: 2 })).to.deep.equal({
      code: "enough",
      message: "enough",
    });
    aborted.resolve();
    expect(await derive(node.url)).to.have.property("derived");
    // The whole log needs at least five pages and the digests. One more request may have been on its way at the abort.
    expect(longNode.asked).to.have.length.below(5);
  });

  it("leads to an error if the worker's program is missing", async () => {
    expect(await derive(node.url, { program: "/none.js" })).to.include({ code: "worker_failed" });
  });
});
