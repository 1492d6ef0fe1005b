import { itemOf, listLength } from "tallystick-derive/lists";
import { forEachRow, type LoadedRows } from "tallystick-derive/loadedRows";
import { WATCHED } from "tallystick-derive/relevant/inflow";
import type { Address } from "tallystick-protocol/address";

/**
 * The watched wallets of a database, in the order in which they were added. A relevant log contains the transfers to
 * these wallets. The first call reads all of them, later calls only the new ones.
 */
export class WatchedWallets {
  #wallets: Address[] = [];
  #all = new Set<Address>();
  #forgotten = 0;

  /**
   * @param projector.rows the rows as they are now
   * @param projector.forgotten a count that grows when a reorg undoes rows. Then the list is read again, because the
   * list may have other wallets now
   */
  async of(projector: {
    rows: () => Promise<LoadedRows>;
    forgotten: () => number;
  }): Promise<readonly Address[]> {
    const rows = await projector.rows();
    const forgotten = projector.forgotten();
    if (forgotten !== this.#forgotten) {
      this.#wallets = [];
      this.#all = new Set();
    }
    this.#forgotten = forgotten;
    const known = this.#wallets.length;
    const added = await rows.run(() => {
      const wallets: Address[] = [];
      const places = Array.from({ length: listLength(rows, WATCHED) - known }, (_, n) => known + n);
      forEachRow(places, (n) => wallets.push(itemOf(rows, WATCHED, n) as Address));
      return wallets;
    });
    // The wallets are pushed one by one, because one call of `push` accepts only some 120,000 arguments.
    for (const it of added) {
      this.#wallets.push(it);
      this.#all.add(it);
    }
    return this.#wallets;
  }

  /** Whether a wallet was watched at the last call of {@link of}. */
  has(wallet: Address): boolean {
    return this.#all.has(wallet);
  }
}
