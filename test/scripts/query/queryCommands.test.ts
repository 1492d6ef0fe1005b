import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { commandHere } from "../../support/commandHere.ts";
import { testDatabase } from "../../support/testDatabase.ts";

const [seller, buyer, evil] = [wallet(1), wallet(2), wallet(3)];

/** Writes to the clipboard of some terminals, clears the screen, and reverses the direction of the text. */
const CONTROL = "\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b2J\u202e";

describe("the commands that query a node", function () {
  this.slow(10_000);

  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let server: ReturnType<typeof serve>;
  let url: string;
  let escrowId: string;
  let endless: string;
  let hireId: string;

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const log = new EventLog();
    log.after(1).listing(seller, "text.translate", { price_usdc: "0.5" });
    for (let n = 0; n < 3; n++) log.after(1).hire(seller, buyer, { latency_ms: 120, passed: n > 0 });
    escrowId = log.after(1).deposit(seller, buyer);
    log
      .after(1)
      .delivered(escrowId as "0x")
      .released(escrowId as "0x", 300_000, 200_000);
    endless = log.after(1).deposit(evil, buyer, { deadline: Number.MAX_SAFE_INTEGER });
    log.after(1).listing(evil, "custom.evil.words", {
      ...{ price_usdc: "0.5", endpoint: `https://x.test/${CONTROL}`, issued_at: 1 },
      ...{ payment_mode: "custom_escrow:https://x.test/", verification_version: CONTROL },
    });
    log.after(1).listing(wallet(4), "text.translate", {
      ...{ price_usdc: "0.7", payment_mode: `custom_escrow:https://x.test/${"a".repeat(2_000)}` },
    });
    const { store } = await log.after(60).tick().derive();
    hireId = [...store.rows("hire").keys()][0] ?? "";
    await database.fill(store);
    const node = { chainId: 31_337, token: wallet(0x70) };
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    const app = createApi({ db: database.db, operations, node, settlementUrl: null });
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  after(async () => {
    server?.close();
    await database?.close();
  });

  const run = (...args: string[]) => commandHere([...args, "--url", url]);

  it("let no seller's text control a terminal", async () => {
    for (const args of [
      ["agent", evil],
      ["search", "custom.evil.words", "--mode", "custom_escrow:https://x.test/"],
    ]) {
      for (const json of [[], ["--json"]]) {
        const { code, out } = await run(...args, ...json);
        expect([code, args[0]]).to.deep.equal([0, args[0]]);
        const shows = args[0] === "agent" || json.length > 0;
        if (shows) expect(out, args[0]).to.contain("\\u001b");
        const shown = stripVTControlCharacters(out.replaceAll("\u001b[1m", "").replaceAll("\u001b[22m", ""));
        expect(shown, "no control").to.not.match(/[^\n\P{C}]|\u202e/u);
        expect(out).not.to.contain("\u001b]").and.not.to.contain("\u001b[2J");
      }
    }
  });

  it("show an escrow whose deadline is beyond all dates", async () => {
    const { code, out, err } = await run("escrow", endless);
    expect([code, err]).to.deep.equal([0, ""]);
    expect(out).to.contain(`${Number.MAX_SAFE_INTEGER} s`);
  });

  it("show tables to people and JSON to programs", async () => {
    const [agent, search, hire, escrow, status] = await Promise.all([
      run("agent", seller),
      run("search", "text.translate", "--max-price", "0.50", "--min-success-rate", "0.5"),
      run("hire", hireId),
      run("escrow", escrowId),
      run("status"),
    ]);
    for (const { code, err } of [agent, search, hire, escrow, status])
      expect([code, err]).to.deep.equal([0, ""]);
    expect(agent.out).to.contain("75.0 %").and.to.contain("text.translate");
    expect(search.out).to.contain(seller).and.to.contain("$0.5");
    expect(hire.out)
      .to.match(/outcome +failure/)
      .and.to.match(/evidence +seller/);
    expect(escrow.out)
      .to.match(/to the seller +\$0\.30/)
      .and.to.match(/to the buyer +\$0\.20/);
    expect(status.out)
      .to.match(/chain +31337/)
      .and.to.match(/digest +0x[0-9a-f]{64}/);

    const [json, none] = await Promise.all([
      run("search", "text.translate", "--json"),
      run("search", "no.such", "--min-tier", "2"),
    ]);
    expect(JSON.parse(json.out).agents[0].agent_id).to.equal(seller);
    expect(none.out).to.contain("Nobody offers this");
  });

  it("refuse a limit that is no number, and do not search without it", async () => {
    for (const option of ["--min-success-rate", "--min-stars", "--min-coverage", "--min-steward-score"]) {
      for (const value of ["0,9", "abc", "", "NaN", "1e999"]) {
        const { code, out, err } = await run("search", "text.translate", option, value);
        expect([code, out], `${option} ${value}`).to.deep.equal([2, ""]);
        expect(err).to.contain(option).and.to.contain("must be a number");
      }
      expect((await run("search", "text.translate", option, "0.25")).code).to.equal(0);
    }
  });

  it("keep a table readable, whatever a seller writes", async () => {
    const { out } = await run("search", "text.translate");
    expect(out).to.contain(wallet(4)).and.to.contain("custom_escrow:https://x.test/aaa");
    for (const line of stripVTControlCharacters(out).split("\n")) expect(line.length).to.be.below(280);
  });

  it("fail with a sentence and a code", async () => {
    const [stranger, wrong, unknown] = await Promise.all([
      run("agent", wallet(99)),
      run("search", "Text"),
      run("hire", "0x12"),
    ]);
    expect(stranger).to.include({ code: 1, out: "" });
    expect(stranger.err).to.contain("unknown_agent");
    expect(wrong.err).to.contain("capability").and.to.contain("invalid_input");
    expect(unknown.err).to.contain("unknown_hire");
    expect((await run("agent", "0x12")).code).to.equal(2);
  });
});
