import { expect } from "chai";
import type { Row } from "tallystick-derive/tables";
import { AUDITED, HASHES, SELLER } from "../../../derive/auditScene.ts";
import { wallet } from "../../../derive/eventLog.ts";
import { type AuditStory, openAuditStory } from "../../support/auditStory.ts";

type Log = { actuations: { hire: string; decision: string; hash: string }[]; next_cursor: string | null };

describe("REST: audits", () => {
  let story: AuditStory;
  before(async () => {
    story = await openAuditStory();
  });
  after(() => story.database.pool.query("DELETE FROM _ponder_checkpoint"));

  async function finalize(block: number) {
    await story.database.pool.query("DELETE FROM _ponder_checkpoint");
    await story.database.pool.query(
      "INSERT INTO _ponder_checkpoint VALUES ('', '1767225900' || lpad('31337', 16, '0') || lpad($1, 16, '0') || repeat('9', 33))",
      [String(block)],
    );
  }
  async function log(query = "", headers = {}) {
    const response = await story.app.request(`/v1/audit-actuation-log${query}`, { headers });
    return { response, body: response.status === 200 ? ((await response.json()) as Log) : undefined };
  }

  it("gives a hire's draw, auditors and verdicts, and the decision", async () => {
    const hire = story.hires.rolledBack;
    const response = await story.app.request(`/v1/audits/${hire}`);
    expect(response.status).to.equal(200);
    expect(response.headers.get("etag")).to.match(/^W\//);
    const row = story.store.rows("audit").get(hire) as Row<"audit">;
    const asked = [...story.store.rows("auditAssignment").values()].filter((it) => it.hire === hire);
    const tick = story.log.events.find((it) => it.kind === "tick" && it.block === row.drawnBlock);
    expect(await response.json()).to.deep.equal({
      ...{ hire, operator: AUDITED, seller: SELLER, buyer: row.buyer, capability: "text.translate" },
      ...{ verification_version: row.verificationVersion, amount_usdc_atomic: "500000", ...HASHES },
      ...{ receipt_hash: row.receipt, status: "failed", challenged: false, reason: null, cause: "sample" },
      ...{ mode: "bootstrap", history: null, canary: null },
      ...{ decision: "rollback", decision_record: row.decisionRecord, rate_ppm: 1_000_000 },
      ...{ eligible_block: row.eligibleBlock, eligible_time: row.eligibleTime, closed_time: row.closedTime },
      drawn: { block: row.drawnBlock, time: row.drawnTime, tick_hash: (tick as { hash: string }).hash },
      rounds: asked.map((it) => ({
        round: it.round,
        attempts: [
          {
            ...{ attempt: 1, auditor: it.auditor, auditor_type: "auditor", passed_over: [] },
            ...{
              assigned_block: it.block,
              assigned_at: it.time,
              clusters: JSON.parse(it.clusters),
              families: JSON.parse(it.families),
            },
            ...{
              verdict: "fail",
              verdict_time: it.verdictTime,
              reason_codes: ["fabricated"],
              record: it.record,
            },
          },
        ],
      })),
    });
  });

  it("shows a challenge, and refuses a hire that is not audited", async () => {
    const challenged = await story.app.request(`/v1/audits/${story.hires.challenged}`);
    expect(await challenged.json()).to.include({ status: "failed", challenged: true, decision: null });
    const unknown = await story.app.request(`/v1/audits/0x${"77".repeat(32)}`);
    expect([unknown.status, ((await unknown.json()) as { code: string }).code]).to.deep.equal([
      404,
      "unknown_audit",
    ]);
    for (const hire of ["x", `0x${"7".repeat(63)}`, `0x${"77".repeat(32)}-`, "%00", "' OR 1=1"]) {
      const response = await story.app.request(`/v1/audits/${encodeURIComponent(hire)}`);
      expect(response.status, hire).to.equal(400);
    }
  });

  it("gives decisions page by page, only of final blocks, and lets caches keep no page for long, because an upgrade may change it", async () => {
    const records = [...story.store.rows("record").values()].filter(
      ({ type, status }) => type === "audit_actuation" && status === "valid",
    );
    const [first, second] = records as [Row<"record">, Row<"record">];
    await finalize(first.block - 1);
    expect((await log()).body).to.deep.equal({ actuations: [], next_cursor: null });
    await finalize(second.block);
    const all = await log();
    expect(all.response.headers.get("cache-control")).to.equal("public, max-age=5");
    expect(all.body?.actuations.map(({ hire, decision, hash }) => ({ hire, decision, hash }))).to.deep.equal([
      { hire: story.hires.rolledBack, decision: "rollback", hash: first.hash },
      { hire: story.hires.dismissed, decision: "dismiss", hash: second.hash },
    ]);
    expect(all.body?.actuations[0]).to.deep.include({
      operator: AUDITED,
      reasons: [{ code: "fabricated", detail: "Seen by eye." }],
      signature: "0x01",
      seq: first.seq,
    });
    const page = await log("?limit=1");
    expect(page.response.headers.get("cache-control")).to.equal("public, max-age=5");
    expect(page.body?.actuations.map(({ hash }) => hash)).to.deep.equal([first.hash]);
    const rest = await log(`?limit=1&cursor=${page.body?.next_cursor}`);
    expect(rest.body?.actuations.map(({ hash }) => hash)).to.deep.equal([second.hash]);
    const tag = page.response.headers.get("etag") as string;
    expect((await log("?limit=1", { "if-none-match": tag })).response.status).to.equal(304);
    for (const query of ["?limit=0", "?limit=101", "?cursor=x", `?cursor=${"A".repeat(700)}`])
      expect((await log(query)).response.status, query).to.equal(400);
  });

  it("has its routes in the description of the API", async () => {
    const { paths } = (await (await story.app.request("/openapi.json")).json()) as { paths: object };
    expect(paths).to.include.keys("/v1/audit-actuation-log", "/v1/audits/{hire}");
  });

  it("a search finds sellers that agreed to audits, and sellers that did not", async () => {
    const find = async (audited: boolean | null, capability = "text.translate") => {
      const body = JSON.stringify({ capability, audited, limit: 100 });
      const headers = { "content-type": "application/json" };
      const response = await story.app.request("/v1/search", { method: "POST", body, headers });
      expect(response.status, await response.clone().text()).to.equal(200);
      return ((await response.json()) as { agents: { agent_id: string }[] }).agents.map((it) => it.agent_id);
    };
    const { pool } = story.database;
    // The seller has listings in two payment modes.
    expect(await find(true)).to.deep.equal([SELLER, SELLER]);
    expect(await find(false)).to.deep.equal([]);
    expect(await find(null)).to.deep.equal([SELLER, SELLER]);
    const change = (from: string, to: string) =>
      pool.query(
        "UPDATE listing SET audit_operator = $2 WHERE audit_operator = $1 AND payment_mode = 'direct'",
        [from, to],
      );
    // One of the two listings now names an operator that nobody follows.
    await change(AUDITED, wallet(77));
    try {
      expect([await find(true), await find(false)]).to.deep.equal([[SELLER], [SELLER]]);
    } finally {
      await change(wallet(77), AUDITED);
    }
    // The consent now begins at a later time.
    await pool.query("UPDATE listing SET audit_from = audit_from + 1000000");
    try {
      expect([await find(true), await find(false)]).to.deep.equal([[], [SELLER, SELLER]]);
    } finally {
      await pool.query("UPDATE listing SET audit_from = audit_from - 1000000");
    }
  });
});
