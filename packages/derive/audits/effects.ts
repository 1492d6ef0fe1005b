import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { amendHire } from "../hires.ts";
import type { Outcome } from "../outcome.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { changeAudit } from "./auditRow.ts";
import { leaveFalseRefunds, trustedOutcome } from "./contested.ts";
import { elevate } from "./elevate.ts";

/** What a confirmed fail does to a hire. It outranks all other evidence. Weight, price and money stay as they are. */
const ROLLED_BACK = {
  outcome: "failure",
  dispute: true,
  disputeSource: "audit",
  evidence: "audit",
} as const;

/** One of a seller's two counts of audits. */
type Counted = "passed" | "rolledBack";

const columns = { passed: "auditsPassed", rolledBack: "auditsRolledBack" } as const;

/**
 * Rolls a hire back. Its seller's rates and tier change. For a time, more sales of the seller and of its cluster are
 * drawn. A hire that is not counted yet will be counted as rolled back. Nothing changes for a hire that an operator
 * of audits had arranged.
 */
export function rollBack(context: ApplyContext, before: Row<"audit">): void {
  if (before.canary !== null) return;
  const audit = countAudit(context, before, "rolledBack");
  elevate(context, audit.seller, audit.verificationVersion);
  if (context.store.get("hire", audit.hire) !== null) amendHire(context, audit.hire, ROLLED_BACK);
}

/**
 * The result of an escrow that is counted now. It follows from how the escrow was settled, unless an audit
 * decided before.
 */
export function auditedOutcome(
  context: ApplyContext,
  { id, buyer }: Pick<Row<"escrow">, "id" | "buyer">,
  settled: Outcome,
): Outcome & Pick<Row<"hire">, "isAuditable"> {
  const audit = context.store.get("audit", id);
  const outcome =
    audit?.decision === "rollback" ? { ...settled, ...ROLLED_BACK } : trustedOutcome(context, buyer, settled);
  return { ...outcome, isAuditable: audit !== null };
}

/** Removes the audit of an arranged hire from the figures of both sides. */
export function withdrawAudit(context: ApplyContext, id: string, truth: string): void {
  const audit = context.store.get("audit", id);
  if (audit === null) return;
  uncountAudit(context, audit);
  leaveFalseRefunds(context, id);
  context.store.update("audit", id, { canary: truth });
  changeShown(context, audit, -1);
}

/** Adds an audit to its seller's counts of eligible, drawn and undisclosed hires. */
function changeShown(context: ApplyContext, { seller, drawnBlock, reason }: Row<"audit">, by: 1 | -1): void {
  const { auditsEligible, auditsDrawn, auditsUndisclosed } = agentRow(context, seller);
  updateAgent(context, seller, {
    auditsEligible: auditsEligible + by,
    auditsDrawn: auditsDrawn + (drawnBlock === null ? 0 : by),
    auditsUndisclosed: auditsUndisclosed + (reason === "undisclosed" ? by : 0),
  });
}

/** Counts an audit in its seller's `audit_pass_rate` for the length of the window. */
export function countAudit(context: ApplyContext, before: Row<"audit">, counted: Counted): Row<"audit"> {
  if (before.canary !== null) return before;
  const audit = changeAudit(context, before, { counted });
  change(context, audit.seller, counted, 1);
  schedule(context, context.at.time + context.params.windowSeconds, "audit", `${audit.id} ${counted}`);
  return audit;
}

/** Takes an audit out of the rate: its result no longer holds, or it leaves the window. */
export function uncountAudit(context: ApplyContext, audit: Row<"audit">): Row<"audit"> {
  if (audit.counted === null) return audit;
  change(context, audit.seller, audit.counted as Counted, -1);
  return changeAudit(context, audit, { counted: null });
}

/** Called when an audit leaves the window. */
export function leaveAudits(context: ApplyContext, hire: string, counted: string): void {
  const audit = context.store.get("audit", hire);
  if (audit !== null && audit.counted === counted) uncountAudit(context, audit);
}

function change(context: ApplyContext, seller: string, counted: Counted, by: 1 | -1): void {
  const column = columns[counted];
  updateAgent(context, seller, { [column]: agentRow(context, seller)[column] + by });
}
