import { forEachRow } from "tallystick-derive/loadedRows";
import type { Store } from "tallystick-derive/store";
import type { Address } from "tallystick-protocol/address";

/** What decides whether the senders of a wallet's money matter. */
export type Receiver = {
  /** All that the wallet ever received, or less if its earlier transfers were not all read. */
  received: bigint;
  /** Whether the wallet bought something, or is an ancestor of a buyer. Then money that comes back to it matters. */
  isTraced: boolean;
  /** Whether the wallet got too many transfers (`hubTransfers`), so that no later transfer counts as its funding. */
  isFull: boolean;
};

/** What the rows of a derivation tell about wallets as receivers. */
export function receiversOf(
  rows: Pick<Store, "get">,
  wallets: readonly Address[],
  hubTransfers: number,
): Map<Address, Receiver> {
  const receivers = new Map<Address, Receiver>();
  forEachRow(wallets, (wallet) => {
    const [told, live] = [rows.get("inflow", wallet), rows.get("wallet", wallet)];
    receivers.set(wallet, {
      received: (told?.received ?? 0n) + (live?.received ?? 0n),
      isTraced: live?.traced ?? false,
      isFull: (told?.incoming ?? 0) + (live?.incoming ?? 0) >= hubTransfers,
    });
  });
  return receivers;
}
