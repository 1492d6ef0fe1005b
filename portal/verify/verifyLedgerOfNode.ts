import { bytesEqual, fromHex, toHex } from "tallystick-protocol/hex";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { entriesOf } from "../design/countOf.ts";
import { readText } from "../node/readBytes.ts";
import { allVerify, beforeVerifies, type Check, type Finding, fails, holds, isOpen } from "./check.ts";
import { sha256ByWasm } from "./sha256ByWasm.ts";
import type { Tree } from "./verifyHead.ts";

/** The limits of a tab: the wait for one answer in milliseconds, the bytes of an answer, and the number of entries. */
const [PATIENCE_MS, MAX_BYTES, MAX_ENTRIES] = [30_000, 32 << 20, 2_000_000];

/**
 * Reads every entry of a ledger from a node, and builds its tree here. Each head of the node must be the root
 * of this tree at that size. So all heads belong to one history.
 *
 * @param heads the heads that the node names, in any order
 */
export async function verifyLedgerOfNode(
  { url, ledger, heads }: { url: string; ledger: string; heads: readonly Tree[] },
  onProgress: (share: number) => void,
): Promise<Finding> {
  const title = "Every entry of this ledger";
  const [odd] = heads.filter(({ size }) => !Number.isSafeInteger(size) || size < 0);
  if (odd !== undefined)
    return {
      title,
      checks: [fails("The node names a head without a valid number of entries", String(odd.size))],
    };
  const wanted = heads.toSorted((a, b) => a.size - b.size);
  const last = wanted.at(-1)?.size ?? 0;
  const sha256 = await sha256ByWasm();
  const chain = new LedgerChain({ sha256 });
  const frontier = new MerkleFrontier(sha256);
  const wrong: Check[] = [];
  let next = 0;
  const compare = () => {
    for (; wanted[next] !== undefined && (wanted[next] as Tree).size <= frontier.size; next++) {
      const { size, root } = wanted[next] as Tree;
      if (!isRoot(root, frontier.root()))
        wrong.push(
          fails(
            `The head at ${entriesOf(size)} is not this ledger's`,
            `The node tells root ${root}, its entries make ${toHex(frontier.root())}.`,
          ),
        );
    }
  };
  compare();
  try {
    while (frontier.size < Math.min(last, MAX_ENTRIES)) {
      const before = frontier.size;
      for (const line of await askLines(url, ledger, before, last)) {
        frontier.append(chain.next(line));
        compare();
      }
      if (frontier.size === before) break;
      onProgress(frontier.size / last);
    }
  } catch (error) {
    if (!(error instanceof LedgerLineError)) throw error;
    return {
      title,
      checks: [
        holds(beforeVerifies(frontier.size)),
        fails(`Entry ${error.line - 1} does not hold`, error.reason),
      ],
    };
  }
  const all = entriesOf(frontier.size);
  return {
    title,
    checks: [
      ...wrong,
      ...(frontier.size < last
        ? [
            frontier.size >= MAX_ENTRIES
              ? isOpen(
                  `A tab reads only the first ${MAX_ENTRIES.toLocaleString("en")} entries`,
                  "The command “tallystick verify-ledger” reads all entries.",
                )
              : fails("The ledger is cut off", `The node tells ${entriesOf(last)}, and gives ${all}.`),
          ]
        : []),
      holds(allVerify(frontier.size), "Each hashes to what it says, and names the one before it."),
      ...(wrong.length === 0 && next > 0
        ? [
            holds(
              `${next} ${next === 1 ? "head is" : "heads are"} of one and the same growing tree`,
              `Nothing was taken back between any two of them. The last root: ${toHex(frontier.root())}`,
            ),
          ]
        : []),
      isOpen("Only the chain shows whether it has these heads"),
    ],
  };
}

function isRoot(told: string, root: Uint8Array): boolean {
  try {
    return bytesEqual(fromHex(told.startsWith("0x") ? told : `0x${told}`), root);
  } catch {
    return false;
  }
}

async function askLines(url: string, ledger: string, from: number, to: number): Promise<string[]> {
  const path = `/v1/ledger/entries?ledger=${encodeURIComponent(ledger)}&from=${from}&to=${Math.min(to, from + 1_024)}`;
  const response = await fetch(`${url}${path}`, {
    signal: AbortSignal.timeout(PATIENCE_MS),
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  if (!response.ok) return [];
  const text = await readText(response, MAX_BYTES);
  if (text === undefined) return [];
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
