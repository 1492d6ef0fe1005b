import { eq } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { receipt } from "../../ponder.schema.ts";
import type { RowList } from "./list.ts";

/** The receipts that an agent signed as the seller, the latest first: those with one status, or all. */
export function receiptsOf(address: string, status?: string | null): RowList<Row<"receipt">> {
  return {
    table: receipt,
    of: { name: `receipts of ${status ?? ""}`, column: receipt.agent, id: address },
    order: [receipt.time, receipt.id],
    direction: "desc",
    filter: status ? eq(receipt.status, status) : undefined,
  };
}
