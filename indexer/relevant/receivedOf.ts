import { forEachRow } from "tallystick-derive/loadedRows";
import { countId } from "tallystick-derive/relevant/senders";
import { formerParams } from "tallystick-derive/relevant/until";
import type { Store } from "tallystick-derive/store";
import type { Address } from "tallystick-protocol/address";
import type { Flow } from "../logPort/completeness/checkCompleteness.ts";

/**
 * The sums that wallets have ever received, by the rows of a derivation: before they were watched, and since. If too many
 * transfers (`hubTransfers`) reached a wallet before it was watched, the others are not in the rows. Then the count has no
 * limit, so that no check uses the sum, also if `hubTransfers` was raised since.
 *
 * @param hubTransfers the present limit
 */
export function receivedOf(
  rows: Pick<Store, "get">,
  wallets: readonly Address[],
  hubTransfers: number,
): Map<Address, Flow> {
  const flows = new Map<Address, Flow>();
  // Whoever made a log could say of any wallet that its transfers were cut. So a count below all limits is not believed.
  const least = leastHubTransfers(rows, hubTransfers);
  forEachRow(wallets, (wallet) => {
    const [told, live] = [rows.get("inflow", wallet), rows.get("wallet", wallet)];
    const before = told?.incoming ?? 0;
    const isCut = before >= least && rows.get("transferCount", countId(wallet, "in", before)) !== null;
    const count = isCut ? Number.POSITIVE_INFINITY : before + (live?.incoming ?? 0);
    flows.set(wallet, { count, sum: (told?.received ?? 0n) + (live?.received ?? 0n) });
  });
  return flows;
}

/** The lowest `hubTransfers` of all parameters until now. */
function leastHubTransfers(rows: Pick<Store, "get">, hubTransfers: number): number {
  let least = hubTransfers;
  for (const text of formerParams({ store: rows })) least = Math.min(least, JSON.parse(text).hubTransfers);
  return least;
}

/** Subtracts the transfers after the requested block. */
export function withoutTransfers(
  flows: Map<Address, Flow>,
  transfers: Iterable<{ to: Address; value: bigint }>,
): void {
  for (const { to, value } of transfers) {
    const flow = flows.get(to);
    if (flow !== undefined) flows.set(to, { count: flow.count - 1, sum: flow.sum - value });
  }
}
