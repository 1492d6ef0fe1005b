import { and, eq } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { escrow } from "../../ponder.schema.ts";
import { known, type RowList, readAlong } from "./list.ts";

export type EscrowWhere = Partial<Record<"seller" | "buyer" | "status" | "provider", string | null>>;

/** Escrows that meet every condition, the latest deposit first; read along the seller, the buyer or the status. */
export function escrowList(where: EscrowWhere): RowList<Row<"escrow">> {
  const { seller, buyer, status, provider } = where;
  const along = known([escrow.seller, seller], [escrow.buyer, buyer], [escrow.status, status]);
  return {
    table: escrow,
    of: readAlong("escrows", along[0], where),
    order: [escrow.depositedBlock, escrow.id],
    direction: "desc",
    filter: and(
      ...along.slice(1).map(([column, value]) => eq(column, value)),
      provider ? eq(escrow.provider, provider) : undefined,
    ),
  };
}
