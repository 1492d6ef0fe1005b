import { countPendingRatings } from "./ratings.ts";
import { hireKey } from "./receiptRow.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";

/** Closes a receipt as the one that tells of a counted hire; ratings that waited for it count now. */
export async function receiptCounted(step: Step, receipt: Row<"receipt">, hire: string): Promise<void> {
  await step.store.insert("hireKey", { id: hireKey(receipt), hire });
  await step.store.update("receipt", receipt.id, { status: "counted", hire });
  await countPendingRatings(step, receipt, hire);
}
