import { TallystickError } from "tallystick-protocol/errors";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { refusal } from "../ledger/writeErrors.ts";
import { type Flush, hashIn } from "./flush.ts";
import type { SharedStore } from "./sharedStore.ts";
import { storeBehind, storeContradicts, storeEmpty, storeLacksRows } from "./storeErrors.ts";

/**
 * Takes all entries that the shared store has and the ledger's file lacks. If the store has no rows and the
 * file is new, the store's rows begin here. The file always follows the store. So if the file has more than
 * the store, the store is an older copy, and nobody may write after it.
 *
 * @throws TallystickError `store_empty`, `store_behind`, `store_contradicts`, `store_lacks_rows`,
 * `store_foreign_row`; another code when the ledger's own disk fails. Errors of the database are passed on
 */
export async function takeFlushes(
  ledger: Pick<DiskLedger, "size" | "head" | "take">,
  store: Pick<SharedStore, "flushesFrom" | "isEmpty" | "begin">,
): Promise<void> {
  for (;;) {
    const before = ledger.size;
    const flushes = await store.flushesFrom(before);
    if (flushes.length === 0) await beginOrRefuse(ledger, store);
    for (const flush of flushes) await takeFlush(ledger, flush);
    const end = flushes.at(-1)?.next;
    if (end !== undefined && end < ledger.size) throw storeBehind(ledger.size, end);
    // An answer may be cut at its limit. So the loop asks again until an answer has nothing new.
    if (flushes.length > 0 && ledger.size === before) return;
  }
}

async function beginOrRefuse(
  { size, head }: Pick<DiskLedger, "size" | "head">,
  store: Pick<SharedStore, "isEmpty" | "begin">,
): Promise<void> {
  if (!(await store.isEmpty())) throw storeLacksRows(size);
  if (size > 0) throw storeEmpty(size);
  await store.begin({ size, head });
}

/** Takes the entries of a flush that are beyond the ledger's end. */
async function takeFlush(ledger: Pick<DiskLedger, "size" | "head" | "take">, flush: Flush): Promise<void> {
  const { size, head } = ledger;
  const { first, next, parent, lines } = flush;
  if (next < size) return;
  if (next === size) {
    if (flush.head !== head) throw storeContradicts(size);
    return;
  }
  if (first > size || lines === "") throw storeLacksRows(size);
  const start = first === size ? 0 : afterLines(lines, size - first);
  const before = first === size ? parent : hashIn(lines, lines.lastIndexOf("\n", start - 2) + 1);
  if (before !== head) throw storeContradicts(size);
  try {
    await ledger.take(lines.slice(start));
  } catch (cause) {
    if (cause instanceof LedgerLineError) throw storeContradicts(size, cause);
    // The caller would treat an error without a code as an error of the database, and try the same lines again.
    throw cause instanceof TallystickError ? cause : refusal(cause);
  }
  if (ledger.size !== next || ledger.head !== flush.head) throw storeContradicts(ledger.size);
}

/** The offset after the first `count` lines. */
function afterLines(lines: string, count: number): number {
  let at = 0;
  for (let n = 0; n < count; n++) at = lines.indexOf("\n", at) + 1;
  return at;
}
