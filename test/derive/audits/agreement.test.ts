import { expect } from "chai";
import { judgeAuditors, leaveAgreement } from "tallystick-derive/audits/agreement";
import { joinRoster, rosterOf, rosterSize } from "tallystick-derive/audits/rosters";
import type { Row } from "tallystick-derive/tables";
import { contextAt, scheduled } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { assign, auditOf, CAPABILITY, OPERATOR, offered } from "./auditRows.ts";

const A = wallet(100);
const ROSTER = rosterOf(OPERATOR, CAPABILITY);

/** An auditor with these counts, and an audit with two verdicts, of which the first is the auditor's. */
function scene(
  counts: Partial<Row<"auditor">> = {},
  { verdict = "fail" as string | null, auditorType = "auditor", verdicts = "fp", of = "h" } = {},
) {
  const params = {
    windowSeconds: 1_000,
    audit: { minAgreement: 10, maxDisagreement: { numerator: 3, denominator: 10 }, removedSeconds: 500 },
  };
  const context = contextAt(9, 0, { params: params as never });
  offered(context, A, counts);
  joinRoster(context, ROSTER, A);
  const audit = auditOf({ verdicts });
  assign(context, { ...audit, id: of }, { auditor: A, verdict, auditorType });
  const row = () => context.store.get("auditor", `${OPERATOR}/${A}`) as Row<"auditor">;
  const counted = () => [row().judged, row().wrongFails, row().wrongPasses];
  return { context, audit, row, counted };
}

describe("the verdict of an auditor, when its audit ends", () => {
  const judged = (end: "passed" | "failed", ...of: Parameters<typeof scene>) => {
    const { context, audit, counted } = scene(...of);
    judgeAuditors(context, audit, end);
    return counted();
  };

  it("is right if it says what the audit found, and else wrong in its own way", () => {
    expect(judged("failed", {}, { verdict: "fail" })).to.deep.equal([1, 0, 0]);
    expect(judged("passed", {}, { verdict: "fail" })).to.deep.equal([1, 1, 0]);
    expect(judged("failed", {}, { verdict: "pass" })).to.deep.equal([1, 0, 1]);
    expect(judged("passed", {}, { verdict: "pass" })).to.deep.equal([1, 0, 0]);
  });

  it("is not judged alone, without a verdict, for another audit of the hire, or if it is the operator's", () => {
    expect(judged("passed", {}, { verdicts: "f" })).to.deep.equal([0, 0, 0]);
    expect(judged("passed", {}, { verdicts: "fpp" })).to.deep.equal([1, 1, 0]);
    for (const verdict of [null, "inconclusive"])
      for (const end of ["passed", "failed"] as const)
        expect(judged(end, {}, { verdict })).to.deep.equal([0, 0, 0]);
    expect(judged("passed", {}, { of: "h/history" })).to.deep.equal([0, 0, 0]);
    expect(judged("passed", {}, { auditorType: "operator-issued" })).to.deep.equal([0, 0, 0]);
  });

  it("leaves the counts at the end of the window, unless the auditor was removed since", () => {
    const { context, audit, counted } = scene({ epoch: 2 });
    judgeAuditors(context, audit, "passed");
    const id = `${OPERATOR}/${A}`;
    expect(scheduled(context)).to.deep.equal([`${context.at.time + 1_000} agreement ${id} 2 wrongFail`]);
    leaveAgreement(context, id, ["1", "wrongFail"]);
    expect(counted()).to.deep.equal([1, 1, 0]);
    leaveAgreement(context, id, ["2", "wrongFail"]);
    expect(counted()).to.deep.equal([0, 0, 0]);
    const right = scene({ judged: 5, wrongPasses: 2 });
    leaveAgreement(right.context, id, ["0", "right"]);
    expect(right.counted()).to.deep.equal([4, 0, 2]);
    leaveAgreement(right.context, id, ["0", "wrongPass"]);
    expect(right.counted()).to.deep.equal([3, 0, 1]);
  });
});

describe("an auditor that was overruled too often", () => {
  /** Whether the auditor is removed by its next wrong verdict of fail, and what for. */
  const removed = (judged: number, wrongFails: number, wrongPasses = 0, verdict = "fail") => {
    const { context, audit, row } = scene({ judged, wrongFails, wrongPasses }, { verdict });
    judgeAuditors(context, audit, verdict === "fail" ? "passed" : "failed");
    const { isActive, removedFor } = row();
    expect(rosterSize(context, ROSTER)).to.equal(isActive ? 1 : 0);
    return removedFor;
  };

  it("is removed if more than the share of its verdicts were wrong, once enough were judged", () => {
    expect(removed(9, 2)).to.equal(null);
    expect(removed(9, 3)).to.equal("extortion");
    expect(removed(8, 8)).to.equal(null);
    expect(removed(9, 0, 2)).to.equal(null);
    expect(removed(19, 3, 2)).to.equal(null);
    expect(removed(19, 3, 3)).to.equal("extortion");
  });

  it("is removed for the kind of mistakes that it made more often, and for wrong fails if both are equal", () => {
    expect(removed(9, 3, 3)).to.equal("extortion");
    expect(removed(9, 2, 3)).to.equal("extortion");
    expect(removed(9, 2, 4)).to.equal("collusion");
    expect(removed(9, 3, 2, "pass")).to.equal("extortion");
    expect(removed(9, 2, 2, "pass")).to.equal("collusion");
  });

  it("starts again from zero, cannot come back for a time, and is not judged until then", () => {
    const { context, audit, row } = scene({ judged: 9, wrongFails: 3, epoch: 4 });
    judgeAuditors(context, audit, "passed");
    const after = { judged: 0, wrongFails: 0, wrongPasses: 0, epoch: 5, isActive: false };
    expect(row()).to.include({ ...after, barredUntil: context.at.time + 500, removedFor: "extortion" });
    judgeAuditors(context, audit, "passed");
    expect(row()).to.include(after);
    expect(scheduled(context)).to.have.length(1);
  });
});
