import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { flushAfter, MAX_FLUSH_BYTES } from "./flush.ts";
import type { SharedStore } from "./sharedStore.ts";
import { leaseLost, storeContradicts, storeLacksRows, takenOver } from "./storeErrors.ts";

/** The size of the store now, the number of entries that this call added, and whether the store was empty before. */
export type SharedNow = { size: number; put: number; began: boolean };

/**
 * Brings a shared store up to this machine's ledger. Use it only with the newest copy, because entries that
 * only another machine has are lost. An empty store begins at the ledger's end. A store that is behind gets
 * the entries that it lacks.
 *
 * @throws TallystickError `ledger_taken_over` while a machine writes, or when the store has more than the
 * ledger; `store_contradicts`; `store_lacks_rows`
 */
export async function shareLedger(
  ledger: Pick<DiskLedger, "size" | "head" | "envelope" | "linesOf">,
  store: SharedStore,
): Promise<SharedNow> {
  const { size, head } = ledger;
  if (!(await store.lease())) throw leaseLost();
  if (await store.isEmpty()) {
    await store.begin({ size, head });
    return { size, put: 0, began: true };
  }
  const last = (await store.flushesFrom(size)).at(-1);
  if (last === undefined) throw storeLacksRows(size);
  if (last.next > size) throw takenOver(size);
  const there = last.next === 0 ? GENESIS_HASH : (await ledger.envelope(last.next - 1)).currentHash;
  if (there !== last.head) throw storeContradicts(last.next);
  let position = { next: last.next, head: last.head };
  let waiting = "";
  const put = async (): Promise<void> => {
    const flush = flushAfter(position, waiting);
    if ((await store.commit(flush)) !== "ours") throw takenOver(flush.first);
    position = flush;
    waiting = "";
  };
  for await (const lines of ledger.linesOf(last.next, size)) {
    for (const line of lines) {
      if (waiting !== "" && waiting.length + line.bytes.length >= MAX_FLUSH_BYTES) await put();
      waiting += `${line.text}\n`;
    }
  }
  if (waiting !== "") await put();
  return { size, put: size - last.next, began: false };
}
