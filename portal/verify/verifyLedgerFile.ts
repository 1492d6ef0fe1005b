import { toHex } from "tallystick-protocol/hex";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { type Check, type Finding, fails, holds, isOpen } from "./check.ts";
import { linesOf } from "./linesOf.ts";
import { sha256ByWasm } from "./sha256ByWasm.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Verifies a ledger file line by line: each entry's hash, the chain of them, and the Merkle root.
 *
 * @param onProgress called with the share that was read, 0 to 1
 */
export async function verifyLedgerFile(file: Blob, onProgress: (share: number) => void): Promise<Finding> {
  const sha256 = await sha256ByWasm();
  const chain = new LedgerChain({ layout: "any", sha256 });
  const frontier = new MerkleFrontier(sha256);
  const title = "A ledger";
  try {
    for await (const lines of linesOf(file, (bytes) => onProgress(bytes / file.size))) {
      for (const bytes of lines)
        frontier.append(
          chain.next({
            bytes,
            get text() {
              return decoder.decode(bytes);
            },
          }),
        );
    }
  } catch (error) {
    if (!(error instanceof LedgerLineError) && !(error instanceof RangeError)) throw error;
    const before = isBefore(frontier.size);
    const where =
      error instanceof LedgerLineError ? `Line ${error.line} does not hold` : "A line cannot be read";
    return {
      title,
      checks: [...before, fails(where, error instanceof LedgerLineError ? error.reason : error.message)],
    };
  }
  const { count, firstLine } = chain.otherLayouts;
  const layout: Check[] =
    count === 0
      ? []
      : [
          isOpen(
            `${count.toLocaleString("en")} lines are in another layout than the canonical one`,
            `The first is line ${firstLine}. What they say verifies.`,
          ),
        ];
  return {
    title,
    checks: [
      holds(
        `All ${frontier.size.toLocaleString("en")} entries verify`,
        "Each hashes to what it says, and names the one before it.",
      ),
      holds("They make one tree", `root ${toHex(frontier.root())}`),
      holds("The last entry", `hash ${chain.head}`),
      ...layout,
      isOpen(
        "Whether entries are missing at the end only the chain says",
        `Its AnchoredLedger has to hold this root at size ${frontier.size}, or a larger tree that contains it.`,
      ),
    ],
    tree: { what: "the file", size: frontier.size, root: toHex(frontier.root()), isWhole: true },
  };
}

function isBefore(size: number): Check[] {
  return size === 0 ? [] : [holds(`The ${size.toLocaleString("en")} entries before it verify`)];
}
