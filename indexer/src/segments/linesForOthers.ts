import type { KeptLines } from "../../keptLines.ts";
import { logWarning } from "../../ponderProcess.ts";
import { tryAgain } from "../../tryAgain.ts";

/** A lost connection is opened again, and after a longer failure the derivation goes on without the copy. */
const PAUSES = [250, 1_000, 4_000, 16_000];

/** The copy of the ledgers' lines for followers that lose them. */
export class LinesForOthers {
  readonly #store: Pick<KeptLines, "keep">;
  readonly #pauses: readonly number[];
  /** The ledgers whose last lines could not be kept. */
  readonly #failing = new Set<string>();

  constructor(store: Pick<KeptLines, "keep">, pauses = PAUSES) {
    this.#store = store;
    this.#pauses = pauses;
  }

  /**
   * Keeps the lines of a segment. The derivation does not need this copy, so a failure is only a warning: then the copy has a
   * gap, and gives no lines from there on. Only a new index fills the gap. After a failure the next segment of the ledger is
   * tried once, so that a lasting failure does not slow each anchor.
   *
   * @throws the reason of the signal
   */
  async keep(
    ledger: string,
    { from, lines }: { from: number; lines: readonly string[] },
    signal: AbortSignal,
  ): Promise<void> {
    const pauses = this.#failing.has(ledger) ? [] : this.#pauses;
    try {
      const keep = () => this.#store.keep(ledger, from, lines);
      const isWhole = await tryAgain("keep the lines of a ledger", signal, keep, pauses);
      this.#failing.delete(ledger);
      if (!isWhole)
        logWarning({ msg: "The lines of a ledger that are kept for others have a gap", ledger, from });
    } catch (error) {
      signal.throwIfAborted();
      this.#failing.add(ledger);
      logWarning({
        ...{ msg: "Lines of a ledger are not kept for others", ledger, from, to: from + lines.length },
        cause: String(error),
      });
    }
  }
}
