import { toHex } from "tallystick-protocol/hex";
import { LedgerChain, LedgerLineError, type VerifiedLedger } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { allVerify, beforeVerifies, type Check, type Finding, fails, holds, isOpen } from "./check.ts";
import { ledgerNamedIn } from "./ledgerNamedIn.ts";
import { linesOf } from "./linesOf.ts";
import { sha256ByWasm } from "./sha256ByWasm.ts";
import { verifyLedgerInParts } from "./verifyLedgerInParts.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const title = "A ledger";

/**
 * Verifies a ledger file: each entry's hash, the chain of them, and the Merkle root. A large file is verified on all cores.
 *
 * @param onProgress called with the share that was read, 0 to 1
 */
export async function verifyLedgerFile(file: Blob, onProgress: (share: number) => void): Promise<Finding> {
  const inParts = await verifyLedgerInParts(file, onProgress);
  const finding =
    inParts === null
      ? await verifyLineByLine(file, onProgress)
      : verified(inParts, [], ` ${inParts.workers} workers shared the file.`);
  const { tree } = finding;
  const ledger = tree === undefined ? undefined : await ledgerNamedIn(file);
  return tree === undefined || ledger === undefined ? finding : { ...finding, tree: { ...tree, ledger } };
}

async function verifyLineByLine(file: Blob, onProgress: (share: number) => void): Promise<Finding> {
  const sha256 = await sha256ByWasm();
  const chain = new LedgerChain({ layout: "any", sha256 });
  const frontier = new MerkleFrontier(sha256);
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
            `${count === 1 ? "One line is" : `${count.toLocaleString("en")} lines are`} in another layout than the canonical one`,
            `The first is line ${firstLine}. Their content verifies.`,
          ),
        ];
  return verified({ size: frontier.size, head: chain.head, root: frontier.root() }, layout);
}

function verified({ size, head, root }: VerifiedLedger, layout: Check[], more = ""): Finding {
  return {
    title,
    checks: [
      holds(allVerify(size), `Each hashes to what it says, and names the one before it.${more}`),
      holds("They make one tree", `root ${toHex(root)}`),
      holds("The last entry", `hash ${head}`),
      ...layout,
      isOpen(
        "Only the chain shows whether entries are missing at the end",
        `Its AnchoredLedger has to hold this root at size ${size}, or a larger tree that contains it.`,
      ),
    ],
    tree: { what: "the file", size, root: toHex(root), isWhole: true },
  };
}

function isBefore(size: number): Check[] {
  return size === 0 ? [] : [holds(beforeVerifies(size))];
}
