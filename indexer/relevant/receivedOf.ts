import { forEachRow } from "tallystick-derive/loadedRows";
import type { Store } from "tallystick-derive/store";
import type { Address } from "tallystick-protocol/address";
import type { Flow } from "../logPort/completeness/checkCompleteness.ts";

/**
 * The sums that wallets have ever received, by the rows of a derivation: before they were watched, and since.
 */
export function receivedOf(
  rows: Pick<Store, "get">,
  wallets: readonly Address[],
  hubTransfers: number,
): Map<Address, Flow> {
  const flows = new Map<Address, Flow>();
  forEachRow(wallets, (wallet) => {
    const [told, live] = [rows.get("inflow", wallet), rows.get("wallet", wallet)];
    // If a wallet had received `hubTransfers` transfers before it was watched, its other earlier transfers
    // were not read.
    const isCut = (told?.incoming ?? 0) >= hubTransfers;
    const count = (told?.incoming ?? 0) + (live?.incoming ?? 0) + (isCut ? 1 : 0);
    flows.set(wallet, { count, sum: (told?.received ?? 0n) + (live?.received ?? 0n) });
  });
  return flows;
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
