import type { ApplyContext } from "./applyContext.ts";
import { changeHireKey, hireKey } from "./hireKeys.ts";
import { countPendingRatings } from "./ratings.ts";
import { receiptRow } from "./receiptRow.ts";
import type { Row } from "./tables.ts";
import { telemetryCounted } from "./telemetry.ts";

/** Marks a receipt as counted. Ratings that waited for it count now. */
export function receiptCounted(context: ApplyContext, receipt: Row<"receipt">, hire: string): void {
  changeHireKey(context, hireKey(receipt), { hire });
  context.store.put("receipt", { ...receiptRow(context, receipt.id), status: "counted", hire });
  countPendingRatings(context, receipt, hire);
  telemetryCounted(context, receipt.id, hire);
}
