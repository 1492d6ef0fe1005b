import type { ApplyContext } from "./applyContext.ts";
import { changeHireKey, hireKey } from "./hireKeys.ts";
import { countPendingRatings } from "./ratings.ts";
import type { Row } from "./tables.ts";
import { telemetryCounted } from "./telemetry.ts";

/** Closes a receipt of a counted hire. Ratings that waited for it count now. */
export async function receiptCounted(
  context: ApplyContext,
  receipt: Row<"receipt">,
  hire: string,
): Promise<void> {
  await changeHireKey(context, hireKey(receipt), { hire });
  await context.store.update("receipt", receipt.id, { status: "counted", hire });
  await countPendingRatings(context, receipt, hire);
  await telemetryCounted(context, receipt.id, hire);
}
