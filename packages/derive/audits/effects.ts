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

/** Which of a seller's audits is meant. */
type Counted = "passed" | "rolledBack";

const columns = { passed: "auditsPassed", rolledBack: "auditsRolledBack" } as const;

/**
 * Rolls a hire back: its seller's rates and tier change, and for a time more of its sales and its cluster's are drawn. A
 * hire that is not counted yet will be counted as rolled back. A hire that was arranged has no effect.
 */
export async function rollBack(context: ApplyContext, before: Row<"audit">): Promise<void> {
  if (before.canary !== null) return;
  const audit = await countAudit(context, before, "rolledBack");
  await elevate(context, audit.seller, audit.verificationVersion);
  if ((await context.store.get("hire", audit.hire)) !== null)
    await amendHire(context, audit.hire, ROLLED_BACK);
}

/** The result of an escrow that is counted now: as it was settled, unless an audit decided before. */
export async function auditedOutcome(
  context: ApplyContext,
  { id, buyer }: Pick<Row<"escrow">, "id" | "buyer">,
  settled: Outcome,
): Promise<Outcome & Pick<Row<"hire">, "isAuditable">> {
  const audit = await context.store.get("audit", id);
  const outcome =
    audit?.decision === "rollback"
      ? { ...settled, ...ROLLED_BACK }
      : await trustedOutcome(context, buyer, settled);
  return { ...outcome, isAuditable: audit !== null };
}

/** The operator had arranged the hire: its audit leaves the figures of both sides. */
export async function withdrawAudit(context: ApplyContext, id: string, truth: string): Promise<void> {
  const audit = await context.store.get("audit", id);
  if (audit === null) return;
  await uncountAudit(context, audit);
  await leaveFalseRefunds(context, id);
  await context.store.update("audit", id, { canary: truth });
  await changeShown(context, audit, -1);
}

/** Adds an audit to its seller's figures: that the hire was eligible, drawn, undisclosed. */
async function changeShown(
  context: ApplyContext,
  { seller, drawnBlock, reason }: Row<"audit">,
  by: 1 | -1,
): Promise<void> {
  const { auditsEligible, auditsDrawn, auditsUndisclosed } = await agentRow(context, seller);
  await updateAgent(context, seller, {
    auditsEligible: auditsEligible + by,
    auditsDrawn: auditsDrawn + (drawnBlock === null ? 0 : by),
    auditsUndisclosed: auditsUndisclosed + (reason === "undisclosed" ? by : 0),
  });
}

/** Counts an audit in its seller's `audit_pass_rate` for the length of the window. */
export async function countAudit(
  context: ApplyContext,
  before: Row<"audit">,
  counted: Counted,
): Promise<Row<"audit">> {
  if (before.canary !== null) return before;
  const audit = await changeAudit(context, before, { counted });
  await change(context, audit.seller, counted, 1);
  const { time } = context.at;
  await schedule(
    context,
    Math.max(time + context.params.windowSeconds, context.state.time + 1),
    "audit",
    `${audit.id} ${counted}`,
  );
  return audit;
}

/** Takes an audit out of the rate: its result no longer holds, or it leaves the window. */
export async function uncountAudit(context: ApplyContext, audit: Row<"audit">): Promise<Row<"audit">> {
  if (audit.counted === null) return audit;
  await change(context, audit.seller, audit.counted as Counted, -1);
  return changeAudit(context, audit, { counted: null });
}

/** An audit leaves the window. */
export async function leaveAudits(context: ApplyContext, hire: string, counted: string): Promise<void> {
  const audit = await context.store.get("audit", hire);
  if (audit !== null && audit.counted === counted) await uncountAudit(context, audit);
}

async function change(context: ApplyContext, seller: string, counted: Counted, by: 1 | -1): Promise<void> {
  const column = columns[counted];
  await updateAgent(context, seller, { [column]: (await agentRow(context, seller))[column] + by });
}
