import type { CheckedEntry, LedgerChain, LedgerLine } from "tallystick-protocol/ledger/verifyLedger";

export type VerifyLinesParameters = {
  /** The chain of the entries before the first line. Every line must continue it. */
  chain: LedgerChain;
  /** Grows by the leaf of every line. */
  tree: { append: (leafHash: Uint8Array) => void };
  /** Called with every entry in turn, after it was checked. */
  onEntry?: ((checked: CheckedEntry) => void | Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Verifies the lines of a ledger one after the other, wherever they are read from: a file, a follower, a
 * static log. They come in groups, so that a line needs no promise. If the source is a generator, it
 * continues only after the whole group was verified.
 *
 * @throws LedgerLineError naming the first bad line; what the source throws; the signal's reason
 */
export async function verifyLines(
  groups: AsyncIterable<Iterable<LedgerLine>> | Iterable<Iterable<LedgerLine>>,
  { chain, tree, onEntry, signal }: VerifyLinesParameters,
): Promise<void> {
  for await (const lines of groups) {
    signal?.throwIfAborted();
    for (const line of lines) {
      if (!onEntry) {
        tree.append(chain.next(line));
        continue;
      }
      const checked = chain.nextEntry(line);
      tree.append(checked.leafHash);
      const done = onEntry(checked);
      if (done) await done;
    }
  }
}

export type ReadLine = { readonly bytes: Uint8Array; readonly text: string };

/** Latin-1 as in `FileLine`: a canonical line is pure ASCII. */
export function lineOf(bytes: Buffer): ReadLine {
  return {
    bytes,
    get text() {
      return bytes.toString("latin1");
    },
  };
}
