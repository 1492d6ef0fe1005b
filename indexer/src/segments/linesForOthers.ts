import type { KeptLines } from "../../keptLines.ts";
import { logWarning } from "../../ponderProcess.ts";
import { tryAgain } from "../../tryAgain.ts";

/** A lost connection is opened again, and after a longer failure the derivation goes on without the copy. */
const PAUSES = [250, 1_000, 4_000, 16_000];

/** Whether the last copy failed. Then the next one is tried once, so that a lasting failure does not slow each anchor. */
let isFailing = false;

/**
 * Keeps the lines of a segment for followers that lose them. The derivation does not need this copy, so a failure is only a
 * warning: then the copy has a gap, and gives no lines from there on. Only a new index fills the gap.
 *
 * @throws the reason of the signal
 */
export async function keepForOthers(
  store: Pick<KeptLines, "keep">,
  ledger: string,
  { from, lines }: { from: number; lines: readonly string[] },
  signal: AbortSignal,
  pauses: readonly number[] = isFailing ? [] : PAUSES,
): Promise<void> {
  try {
    const keep = () => store.keep(ledger, from, lines);
    const isWhole = await tryAgain("keep the lines of a ledger", signal, keep, pauses);
    isFailing = false;
    if (!isWhole) logWarning({ msg: "Lines of a ledger that were kept are gone", ledger, before: from });
  } catch (error) {
    signal.throwIfAborted();
    isFailing = true;
    logWarning({
      ...{ msg: "Lines of a ledger are not kept for others", ledger, from, to: from + lines.length },
      cause: String(error),
    });
  }
}
