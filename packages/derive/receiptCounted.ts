import { hasAudits } from "./audits/auditRow.ts";
import { awaitDisclosure, hireReceipted } from "./audits/eligibility.ts";
import { countPendingRatings } from "./ratings.ts";
import { hireKey } from "./receiptRow.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";
import { telemetryCounted } from "./telemetry.ts";

/**
 * Closes a receipt as the one that tells of a counted hire; ratings that waited for it count now. A direct hire may be audited from
 * here on; one by escrow from when its receipt was joined to the deposit.
 */
export async function receiptCounted(step: Step, receipt: Row<"receipt">, hire: string): Promise<void> {
  await step.store.insert("hireKey", { id: hireKey(receipt), hire });
  await step.store.update("receipt", receipt.id, { status: "counted", hire });
  await countPendingRatings(step, receipt, hire);
  await telemetryCounted(step, receipt.id, hire);
  if (receipt.escrowId !== null || !hasAudits(step)) return;
  const counted = await step.store.get("hire", hire);
  if (counted === null) return;
  const paid = { ...counted, paidAt: counted.time, isContested: false };
  if (!(await hireReceipted(step, paid, receipt))) await awaitDisclosure(step, counted);
}
