import { itemOf, listLength } from "tallystick-derive/lists";
import { WATCHED } from "tallystick-derive/relevant/inflow";
import type { Store } from "tallystick-derive/store";
import type { Address } from "tallystick-protocol/address";

/**
 * The watched wallets of a database, in the order in which they were added. The first call reads all of them,
 * later calls only the new ones.
 */
export class WatchedWallets {
  #wallets: Address[] = [];
  #forgotten = 0;

  /**
   * @param forgotten a count that grows whenever a reorg took rows back. Then the list is read again, because
   * the same places may hold other wallets
   */
  async of(rows: Pick<Store, "get">, forgotten: number): Promise<readonly Address[]> {
    if (forgotten !== this.#forgotten) this.#wallets = [];
    this.#forgotten = forgotten;
    const length = await listLength(rows as Store, WATCHED);
    for (let n = this.#wallets.length; n < length; n++) {
      this.#wallets.push((await itemOf(rows as Store, WATCHED, n)) as Address);
    }
    return this.#wallets;
  }
}
