import { expect } from "chai";
import { messagesOf } from "../../../../indexer/api/stream/messages.ts";
import { AUDITED, SELLER } from "../../../derive/auditScene.ts";
import { type AuditStory, openAuditStory } from "../../support/auditStory.ts";

describe("messages of audits on the stream", () => {
  let story: AuditStory;
  before(async () => {
    story = await openAuditStory();
  });

  it("contain only the state at that moment, and nothing later", async () => {
    const hire = story.hires.rolledBack;
    const assignment = `${hire}/2/1`;
    const row = (kind: string, subject: string, n: number) => ({
      ...{ position: `000000000001/00000001/0000000000000001/00000${n}`, kind, subject },
      ...{ blockHash: `0x${"aa".repeat(32)}`, agent: SELLER, counterpart: null },
    });
    const rows = [
      row("audit_drawn", hire, 1),
      row("audit_assigned", assignment, 2),
      row("audit_verdict", assignment, 3),
      row("audit_ended", hire, 4),
      row("audit_decided", hire, 5),
      row("audit_drawn", "gone", 6),
    ];
    const audit = story.store.rows("audit").get(hire);
    const asked = story.store.rows("auditAssignment").get(assignment);
    const sides = {
      hire,
      operator: AUDITED,
      seller: SELLER,
      buyer: audit?.buyer,
      capability: "text.translate",
      cause: "sample",
    };
    const who = { hire, round: 2, attempt: 1, operator: AUDITED, auditor: asked?.auditor };
    const told = (await messagesOf(story.database.db, rows)).map(({ text }) => JSON.parse(text));
    expect(told.map(({ data }) => data)).to.deep.equal([
      { ...sides, rate_ppm: 1_000_000, block: audit?.drawnBlock, time: audit?.drawnTime },
      { ...who, auditor_type: "auditor", block: asked?.block, time: asked?.time },
      {
        ...who,
        verdict: "fail",
        reason_codes: ["fabricated"],
        record: asked?.record,
        time: asked?.verdictTime,
      },
      { ...sides, status: "failed", reason: null, time: audit?.closedTime },
      { ...sides, decision: "rollback", record: audit?.decisionRecord },
    ]);
    expect(told.map(({ type }) => type)).to.deep.equal(rows.slice(0, 5).map(({ kind }) => kind));
  });
});
