import type { EscrowState } from "./acts.ts";
import type { NodeEscrow } from "./escrowQuery.ts";

const STATUSES: { [status: string]: EscrowState["status"] } = {
  HELD: "held",
  RELEASED: "released",
  REFUNDED: "refunded",
  TIMED_OUT: "timedOut",
};

/**
 * The state of an escrow according to the node. The node reports a split as a release with a part for the
 * buyer. It tells neither the chain's time nor credits, so `time` is 0 and `credits` is empty.
 */
export function escrowStateOf(
  told: Pick<NodeEscrow, "status" | "delivered" | "toBuyerUsdc"> | null,
): EscrowState {
  const nothing = { delivered: false, time: 0, credits: [] };
  if (told === null) return { ...nothing, status: "none" };
  const status = STATUSES[told.status] ?? "none";
  const isSplit = status === "released" && told.toBuyerUsdc !== null && Number(told.toBuyerUsdc) > 0;
  return { ...nothing, status: isSplit ? "split" : status, delivered: told.delivered };
}
