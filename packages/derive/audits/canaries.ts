import { hireId } from "tallystick-protocol/hire/hireIds";
import { type Canary, parseAuditCanary } from "tallystick-protocol/records/auditCanary";
import { findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import type { RecordEvent } from "../events.ts";
import { findHireKey } from "../hireKeys.ts";
import { withdrawHire } from "../hires.ts";
import { setRatingCounts } from "../ratings.ts";
import type { Row } from "../tables.ts";
import { assignmentsOf } from "./assignments.ts";
import { isOperator } from "./auditRow.ts";
import { withdrawAudit } from "./effects.ts";
import { countFor } from "./operators.ts";
import type { Reading } from "./reading.ts";

/**
 * Reads an operator's record of canaries: hires that the operator will arrange, or that it now reveals. Canaries
 * measure how often an auditor passes good work and fails bad work (S110 in the specification). They remove nobody
 * from a roster and take nothing from anybody.
 */
export function readCanary(context: ApplyContext, event: RecordEvent): Reading {
  const { commitment, reveal } = parseAuditCanary(event.body);
  const { signer: operator, hash } = event;
  if (!isOperator(context, operator)) return `signer ${operator} is no operator of audits`;
  const id = `${operator}/${commitment}`;
  const list = context.store.get("canaryList", id);
  if (reveal === undefined) {
    if (list !== null) return "body.commitment was made before";
    return () => committed(context, { id, operator, commitment, record: hash });
  }
  if (list === null) return "body.commitment was not made before";
  if (list.revealedTime !== null) return "body.commitment was revealed before";
  return () => revealed(context, list, reveal.hires, hash);
}

function committed(
  context: ApplyContext,
  list: Pick<Row<"canaryList">, "id" | "operator" | "commitment" | "record">,
): void {
  const { block, time } = context.at;
  const nothing = { revealedTime: null, revealRecord: null, hires: 0, voids: 0 };
  context.store.insert("canaryList", { ...list, block, time, ...nothing });
  countFor(context, list.operator, "canariesCommitted");
}

function revealed(
  context: ApplyContext,
  list: Row<"canaryList">,
  hires: readonly Canary[],
  revealRecord: string,
): void {
  let voids = 0;
  for (const canary of hires) if (!revealOne(context, list, canary)) voids += 1;
  const revealedTime = context.at.time;
  context.store.update("canaryList", list.id, {
    revealedTime,
    revealRecord,
    hires: hires.length,
    voids,
  });
  countFor(context, list.operator, "canariesRevealed");
}

/**
 * Stores one revealed canary, and counts the auditors' errors on it. Returns whether the canary's hire is removed from
 * the figures. A hire that cannot be a canary stays in them. So an operator cannot remove a hire that it did not
 * arrange.
 */
function revealOne(context: ApplyContext, list: Row<"canaryList">, canary: Canary): boolean {
  const { buyer, truth } = canary;
  if (context.store.get("canary", buyer) !== null) return false;
  const found = hireOf(context, list, canary);
  const isFound = typeof found !== "string";
  const said = isFound ? verdictsOn(context, found) : [];
  const wrong = truth === "good" ? "fail" : "pass";
  const contradictions = new Set(said.filter((it) => it.verdict === wrong).map((it) => it.auditor));
  let status = "counted";
  if (!isFound) status = found;
  else if (contradictions.size >= 2) status = "contradicted";
  else if (said.length === 0) status = "undrawn";
  context.store.insert("canary", {
    ...{ id: buyer, operator: list.operator, list: list.id, truth, status, time: context.at.time },
    hire: isFound ? found.id : null,
  });
  if (!isFound || status === "contradicted") return false;
  for (const it of said) measure(context, found, it, truth);
  withdrawHire(context, found.id);
  if (found.receipt !== null) setRatingCounts(context, found.receipt, false);
  withdrawAudit(context, found.id, truth);
  return true;
}

/** The hire that a canary names, or why it cannot be a canary. */
function hireOf(
  context: ApplyContext,
  list: Row<"canaryList">,
  { buyer, nonce }: Canary,
): Row<"hire"> | string {
  const { bought, sellerSum } = findAgent(context, buyer) ?? { bought: 0, sellerSum: 0n };
  if (bought > 1) return "busy";
  // The sum of one address is that address. Without a hire it is the zero address, which sells nothing.
  const seller = `0x${sellerSum.toString(16).padStart(40, "0")}`;
  const name = hireId(buyer, nonce);
  const key = findHireKey(context, `${seller}/${name}`);
  const counted = key?.hire ?? null;
  const hire = counted === null ? null : context.store.get("hire", counted);
  if (hire === null || hire.buyer !== buyer) return "unknown";
  // The buyer must have confirmed the hire id, by its deposit or by its signature on the receipt. A seller
  // alone could give any id to any hire.
  const escrow = hire.escrowId === null ? null : context.store.get("escrow", hire.escrowId);
  const receipt = hire.receipt === null ? null : context.store.get("receipt", hire.receipt);
  if (escrow?.hireId !== name && receipt?.buyerSigned !== true) return "unsigned";
  if ((escrow?.depositedTime ?? hire.time) <= list.time) return "late";
  const audit = context.store.get("audit", hire.id);
  return audit?.operator === list.operator ? hire : "foreign";
}

function verdictsOn(context: ApplyContext, { id }: Row<"hire">): Row<"auditAssignment">[] {
  const all = assignmentsOf(context, id);
  return all.filter(
    ({ auditorType, verdict }) => auditorType === "auditor" && (verdict === "pass" || verdict === "fail"),
  );
}

function measure(
  context: ApplyContext,
  { capability }: Row<"hire">,
  { operator, auditor, verdict }: Row<"auditAssignment">,
  truth: Canary["truth"],
): void {
  const id = `${operator}/${auditor}/${capability}`;
  const row = context.store.get("auditorError", id) ?? {
    ...{ id, operator, auditor, capability: capability ?? "" },
    ...{ good: 0, goodPassed: 0, bad: 0, badFailed: 0 },
  };
  const measured =
    truth === "good"
      ? { good: row.good + 1, goodPassed: row.goodPassed + Number(verdict === "pass") }
      : { bad: row.bad + 1, badFailed: row.badFailed + Number(verdict === "fail") };
  context.store.put("auditorError", { ...row, ...measured });
}
