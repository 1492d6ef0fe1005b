import { and, eq } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { escrow } from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { alongColumn, type RowList, wantedColumns } from "./list.ts";
import { type RowOf, rowsById } from "./rowsById.ts";

export type EscrowWhere = Partial<Record<"seller" | "buyer" | "status" | "provider", string | null>>;

/**
 * Escrows that meet every condition, the latest deposit first, with an index for the seller, the buyer or the
 * status.
 */
export function escrowList(where: EscrowWhere): RowList<Row<"escrow">> {
  const { seller, buyer, status, provider } = where;
  const along = wantedColumns([escrow.seller, seller], [escrow.buyer, buyer], [escrow.status, status]);
  return {
    table: escrow,
    of: alongColumn("escrows", along[0], where),
    order: [escrow.depositedBlock, escrow.id],
    direction: "desc",
    filter: and(
      ...along.slice(1).map(([column, value]) => eq(column, value)),
      provider ? eq(escrow.provider, provider) : undefined,
    ),
  };
}

/** The steps in the order of the contract. An escrow ends with one of the last three steps. */
export const ESCROW_STEPS = ["deposited", "delivered", "released", "refunded", "timed_out"] as const;

/** What happened to an escrow on the chain, in order. */
export async function stepsOfEscrow(db: Database, id: string): Promise<RowOf<"escrowStep">[]> {
  return inChainOrder(
    await rowsById(
      db,
      "escrowStep",
      ESCROW_STEPS.map((kind) => `${id}/${kind}`),
    ),
  );
}

export function inChainOrder(steps: RowOf<"escrowStep">[]): RowOf<"escrowStep">[] {
  return steps.sort((a, b) => a.block - b.block || a.log - b.log);
}
