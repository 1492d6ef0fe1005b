import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { Hono } from "hono";
import { commandHere } from "../../support/commandHere.ts";

const AGENT = `0x${"a1".repeat(20)}`;
const BUYER = `0x${"b2".repeat(20)}`;
const ENDLESS = `0x${"c3".repeat(20)}`;
const FILTERED = `0x${"e5".repeat(20)}`;
const LOOPING = `0x${"f6".repeat(20)}`;
const MALFORMED = `0x${"d4".repeat(20)}`;
const failure = (n: number, changes: object = {}) => ({
  ...{ hire: `0x${String(n).padStart(64, "0")}-1`, buyer: BUYER, capability: "text.translate" },
  ...{ price_usdc: "0.05", time: 1_767_225_600, evidence: "telemetry", reason: null, is_excused: false },
  ...changes,
});

describe("`tallystick failures`", function () {
  this.slow(15_000);

  let server: ReturnType<typeof serve>;
  let url: string;
  const asked: string[] = [];

  before(async () => {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      asked.push(req.url.slice(req.url.indexOf("/v1")));
      await next();
    });
    app.get("/v1/aliases/ada", ({ json }) => json({ agent_id: AGENT }));
    app.get(`/v1/agents/${AGENT}/failures`, ({ req, json }) => {
      const page = { agent_id: AGENT, since: 1 };
      if (req.query("days") === "90") return json({ ...page, failures: [], next_cursor: null });
      return req.query("cursor") === undefined
        ? json({ ...page, failures: [failure(1, { reason: "\u001b[31mtimeout" })], next_cursor: "a+b" })
        : json({ ...page, failures: [failure(2, { is_excused: true })], next_cursor: null });
    });
    app.get(`/v1/agents/${ENDLESS}/failures`, ({ req, json }) => {
      const isFirst = req.query("cursor") === undefined;
      return json({
        ...{ agent_id: ENDLESS, since: 1, failures: isFirst ? [failure(1)] : [] },
        next_cursor: `c${asked.length}`,
      });
    });
    // None of the hires on the first pages failed.
    app.get(`/v1/agents/${FILTERED}/failures`, ({ req, json }) => {
      const page = Number(req.query("cursor") ?? 0);
      const failures = page === 2 ? [failure(5)] : [];
      return json({ agent_id: FILTERED, since: 1, failures, next_cursor: page === 3 ? null : `${page + 1}` });
    });
    app.get(`/v1/agents/${LOOPING}/failures`, ({ json }) =>
      json({ agent_id: LOOPING, since: 1, failures: [], next_cursor: "again" }),
    );
    app.get(`/v1/agents/${MALFORMED}/failures`, ({ json }) => json({ failures: [null], next_cursor: 7 }));
    app.get("/v1/aliases/nobody", ({ json }) => json(null));
    app.all("*", ({ json }) =>
      json({ code: "private_metrics", detail: "It asks for private metrics." }, 403),
    );
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server?.close());

  const run = (...args: string[]) => commandHere(["failures", ...args, "--url", url]);

  it("shows all pages of an agent that is named by its alias, and a stranger's text as plain text", async () => {
    const { out, err, code } = await run("ada");
    expect([code, err]).to.deep.equal([0, ""]);
    expect(out).to.contain("timeout").and.contain("– (not counted)").and.contain(failure(2).hire);
    expect(out).to.not.contain("\u001b");
    const path = `/v1/agents/${AGENT}/failures?days=7&limit=100`;
    expect(asked).to.deep.equal(["/v1/aliases/ada", path, `${path}&cursor=a%2Bb`]);
  });

  it("gives JSON to programs, says when there were no failures, and says why it cannot know", async () => {
    const [programs, none, refused, both] = await Promise.all([
      run(AGENT, "--json", "--last-30-days"),
      run(AGENT, "--last-90-days"),
      run(BUYER),
      run(AGENT, "--last-7-days", "--last-90-days"),
    ]);
    expect(JSON.parse(programs.out).failures).to.have.length(2);
    expect(none.out).to.equal("No hire of the last 90 days failed.\n");
    expect(refused.code).to.be.above(0);
    expect(refused.err).to.contain("It asks for private metrics.");
    expect(both.code).to.be.above(0);
  });

  it("reads on after an empty page, because a page has only those of its hires that failed", async () => {
    const { out, code } = await run(FILTERED);
    expect(code).to.equal(0);
    expect(out).to.contain(failure(5).hire);
    expect(asked.filter((it) => it.includes(FILTERED))).to.have.length(4);
    expect((await run(LOOPING)).out).to.equal("No hire of the last 7 days failed.\n");
  });

  it("says that it is unfinished if a node names a next page without end", async () => {
    const { out, code } = await run(ENDLESS);
    expect(code).to.equal(2);
    expect(out).to.contain(failure(1).hire).and.contain("The search is unfinished");
    expect(asked.filter((it) => it.includes(ENDLESS))).to.have.length(1_000);
  }).timeout(60_000);

  it("refuses an answer that no node gives", async () => {
    const [malformed, nobody] = await Promise.all([run(MALFORMED), run("nobody")]);
    for (const { code, err } of [malformed, nobody]) {
      expect(code).to.be.above(0);
      expect(err).to.match(/The node's answer to .* does not have the expected form. Wrong part: /);
      expect(err).to.contain("unreadable_answer").and.not.contain("TypeError");
    }
  });
});
