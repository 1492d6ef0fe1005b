import { changeHireKey, hireKey } from "./hireKeys.ts";
import { countPendingRatings } from "./ratings.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";
import { telemetryCounted } from "./telemetry.ts";

/** Closes a receipt as the one that tells of a counted hire; ratings that waited for it count now. */
export async function receiptCounted(step: Step, receipt: Row<"receipt">, hire: string): Promise<void> {
  await changeHireKey(step, hireKey(receipt), { hire });
  await step.store.update("receipt", receipt.id, { status: "counted", hire });
  await countPendingRatings(step, receipt, hire);
  await telemetryCounted(step, receipt.id, hire);
}
