import { expect } from "chai";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { assignmentFor, verdictDue, verdictSettled } from "tallystick-derive/audits/verdicts";
import { allItems } from "tallystick-derive/lists";
import type { Row } from "tallystick-derive/tables";
import { contextAt } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { assign, auditOf, BUYER, CAPABILITY, OPERATOR, offered, SELLER } from "./auditRows.ts";

const A = wallet(100);
const HASHES = { paramsHash: "0xa1", resultHash: "0xb2" };
const params = { audit: { operators: { [OPERATOR]: { pool: wallet(24) } }, maxAttempts: 3 } } as never;

function scene(
  more: Partial<Row<"audit">> = {},
  of: Partial<Row<"auditAssignment">> = {},
  operators = params,
) {
  const context = contextAt(9, 0, { params: operators });
  for (const it of [SELLER, BUYER]) ensureAgent(context, it);
  const audit = auditOf({ ...HASHES, ...more });
  context.store.insert("audit", audit);
  offered(context, A, { unanswered: 2, answered: 5 });
  // The attempts before it, whose auditors said nothing.
  for (let attempt = 1; attempt < audit.attempt; attempt++)
    if (of.attempt !== attempt) assign(context, audit, { round: audit.round, attempt, auditor: wallet(101) });
  const assignment = assign(context, audit, {
    auditor: A,
    round: audit.round,
    attempt: audit.attempt,
    ...of,
  });
  const now = () => context.store.get("audit", "h") as Row<"audit">;
  return { context, assignment, now };
}

const figures = (context: ApplyContext) => {
  const { issued, unanswered, inconclusive, abandonedAssigned } =
    context.store.get("auditOperator", OPERATOR) ?? {};
  return [issued, unanswered, inconclusive, abandonedAssigned].map((it) => it ?? 0);
};
const waiting = (context: ApplyContext) => allItems(context.store, "auditsWaiting");

describe("the assignment that a verdict answers", () => {
  const body = (more: object = {}) =>
    ({
      ...{ hire: "h", round: 1, attempt: 1, verdict: "pass", reasons: [] },
      ...{ params_hash: "0xa1", result_hash: "0xb2", ...more },
    }) as unknown as Parameters<typeof assignmentFor>[2];
  const answer = (from: ReturnType<typeof scene>, more = {}, signer: string = A) => {
    const found = assignmentFor(from.context, signer, body(more));
    return typeof found === "string" ? found : found.id;
  };

  it("is that of the round and attempt, while the audit waits for it or for another auditor", () => {
    expect(answer(scene())).to.equal("h/1/1");
    expect(answer(scene({ status: "assigning" }))).to.equal("h/1/1");
    for (const status of ["eligible", "rechecking", "passed", "failed", "inconclusive", "abandoned"])
      expect(answer(scene({ status })), status).to.equal("the assignment is over");
  });

  it("is none for another place, another signer, a second verdict, other bytes, or without its operator", () => {
    const nobody = (round: number, attempt: number) =>
      `nobody was assigned round ${round}, attempt ${attempt}`;
    expect(answer(scene(), { round: 2 })).to.equal(nobody(2, 1));
    expect(answer(scene(), { attempt: 2 })).to.equal(nobody(1, 2));
    expect(answer(scene(), { hire: "g" })).to.equal(nobody(1, 1));
    expect(answer(scene(), {}, wallet(101))).to.equal(`signer must be the auditor, ${A}`);
    expect(answer(scene({}, { verdict: "fail" }))).to.equal("its auditor gave a verdict before");
    for (const later of [{ round: 2 }, { attempt: 2 }])
      expect(answer(scene(later, { round: 1, attempt: 1 }))).to.equal("the assignment is over");
    expect(answer(scene({}, {}, {} as never))).to.equal(`${OPERATOR} is no operator of audits`);
    expect(answer(scene(), { params_hash: "0xc3" })).to.equal("body.params_hash must be the receipt's, 0xa1");
    expect(answer(scene(), { result_hash: "0xc3" })).to.equal("body.result_hash must be the receipt's, 0xb2");
  });
});

describe("the verdict of an auditor", () => {
  const say = (from: ReturnType<typeof scene>, verdict: "pass" | "fail" | "inconclusive") =>
    verdictSettled(from.context, from.assignment, { verdict, reasons: "other,slow", record: "r" });

  it("is stored with its reasons and its time, and ends the auditor's silence", () => {
    const from = scene();
    say(from, "pass");
    const { context } = from;
    expect(context.store.get("auditAssignment", "h/1/1")).to.include({
      ...{ verdict: "pass", reasons: "other,slow", record: "r", verdictTime: context.at.time },
    });
    expect(context.store.get("auditor", `${OPERATOR}/${A}`)).to.include({ unanswered: 0, answered: 6 });
    expect(context.store.get("auditMode", `${OPERATOR}/${CAPABILITY}`)).to.include({
      verdicts: 1,
      auditors: 1,
    });
    expect(from.now().verdicts).to.equal("p");
    expect(figures(context)).to.deep.equal([0, 0, 0, 0]);
  });

  it("counts for the operator itself as one that it issued", () => {
    const from = scene({}, { auditor: OPERATOR, auditorType: "operator-issued" });
    say(from, "fail");
    expect(figures(from.context)[0]).to.equal(1);
    expect(from.context.store.get("auditor", `${OPERATOR}/${A}`)).to.include({ unanswered: 2, answered: 5 });
    expect(from.now()).to.include({ verdicts: "f", operatorFails: 1 });
    const nameless = scene({ capability: null });
    say(nameless, "fail");
    expect(nameless.context.store.get("auditMode", `${OPERATOR}/${CAPABILITY}`)).to.equal(null);
  });

  it("that judges nothing begins the next attempt, and ends the round after the last", () => {
    for (const [attempt, status, list, count] of [
      [1, "assigning", ["h"], 0],
      [2, "assigning", ["h"], 0],
      [3, "inconclusive", [], 1],
    ] as const) {
      const from = scene({ attempt });
      say(from, "inconclusive");
      expect(from.now()).to.include({ status, attempt });
      expect(waiting(from.context)).to.deep.equal(list);
      expect(figures(from.context)[2]).to.equal(count);
    }
    // While the audit waits already, a late verdict of this kind changes nothing of it.
    const late = scene({ status: "assigning", attempt: 3 });
    say(late, "inconclusive");
    expect(late.now().status).to.equal("assigning");
    expect(waiting(late.context)).to.deep.equal([]);
  });
});

describe("the end of the time for a verdict", () => {
  const due = (from: ReturnType<typeof scene>) => {
    verdictDue(from.context, "h/1/1");
    return [from.now().status, ...figures(from.context).slice(1)];
  };

  it("begins the next attempt, and after the last one ends the round and counts the silence", () => {
    expect(due(scene())).to.deep.equal(["assigning", 0, 0, 0]);
    const last = scene({}, {}, {
      audit: { operators: { [OPERATOR]: { pool: wallet(24) } }, maxAttempts: 1 },
    } as never);
    expect(due(last)).to.deep.equal(["inconclusive", 1, 1, 0]);
    expect(last.context.store.get("auditor", `${OPERATOR}/${A}`)?.unanswered).to.equal(3);
  });

  it("changes nothing for an earlier attempt or round, or for an audit that is not with an auditor", () => {
    for (const more of [{ round: 2 }, { attempt: 2 }])
      expect(due(scene(more, { round: 1, attempt: 1 }))).to.deep.equal(["assigned", 0, 0, 0]);
    for (const status of ["assigning", "passed", "rechecking"])
      expect(due(scene({ status }))).to.deep.equal([status, 0, 0, 0]);
  });

  it("ends the audit if its operator has left", () => {
    expect(due(scene({}, {}, {} as never))).to.deep.equal(["abandoned", 0, 0, 1]);
  });
});
