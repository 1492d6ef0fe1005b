import { eq, gt } from "ponder";
import type { Row } from "tallystick-derive/tables";
import { buyerFamily, escrow, familyMember, unreceipted } from "../../ponder.schema.ts";
import type { RowList } from "./list.ts";

/**
 * The wallets of a family, as far as a rule ever asked for their family, in the order in which they first
 * spent.
 */
export function familyMembers(family: string): RowList<Row<"familyMember">> {
  return {
    table: familyMember,
    of: { name: "members of a family", column: familyMember.family, id: family },
    order: [familyMember.actedBlock, familyMember.actedLog, familyMember.id],
    direction: "asc",
  };
}

/** The families that bought from a seller in the window, by their founders. */
export function buyerFamilies(seller: string): RowList<Row<"buyerFamily">> {
  return {
    table: buyerFamily,
    of: { name: "families that bought of", column: buyerFamily.seller, id: seller },
    order: [buyerFamily.id],
    direction: "asc",
    filter: gt(buyerFamily.hires, 0),
  };
}

/** The payments in the window for which a seller wrote no receipt in time, the latest first. */
export function unreceiptedPayments(seller: string): RowList<Row<"unreceipted">> {
  return {
    table: unreceipted,
    of: { name: "unreceipted payments to", column: unreceipted.seller, id: seller },
    order: [unreceipted.block, unreceipted.id],
    direction: "desc",
    filter: eq(unreceipted.inWindow, true),
  };
}

/** The deposits that a seller left unanswered and that count now, the latest first. */
export function unansweredEscrows(seller: string): RowList<Row<"escrow">> {
  return {
    table: escrow,
    of: { name: "unanswered escrows of", column: escrow.seller, id: seller },
    order: [escrow.depositedBlock, escrow.id],
    direction: "desc",
    filter: eq(escrow.unanswered, true),
  };
}
