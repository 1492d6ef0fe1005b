import { isReleaseChain } from "tallystick-protocol/ledger/releasedLedger";
import { readHeads } from "../chain/readHeads.ts";
import { askConsistency, askLedgers } from "./askLedgers.ts";
import { type Check, type Finding, isOpen } from "./check.ts";
import {
  ageCheck,
  codeCheck,
  idCheck,
  ledgerCheck,
  MANY_BLOCKS,
  type NamedBy,
  nodeHeadChecks,
  type OwnTree,
  recentCheck,
  sourceChecks,
  treeChecks,
} from "./verifyHead.ts";

type Parameters = {
  /** JSON-RPC addresses of the reader's choice, one or two. */
  urls: readonly string[];
  /** Only this ledger; otherwise all that the node follows. */
  ledger: string | undefined;
  /** Who named the ledger. */
  namedBy: NamedBy;
  /** The tree to compare with the chain, in place of the node's head: from a file or a proof. */
  tree: OwnTree | undefined;
  signal: AbortSignal;
};

/** A new block between two reads may cause a false mismatch, so a failed comparison is repeated once. */
const ATTEMPTS = 2;

/** Compares the heads of ledgers with the chain, which is read through the reader's own sources. */
export async function verifyOnChain(parameters: Parameters): Promise<Finding> {
  for (let attempt = 1; ; attempt++) {
    const finding = await verifyOnce(parameters);
    if (attempt === ATTEMPTS || finding.checks.every(({ state }) => state !== "no")) return finding;
  }
}

async function verifyOnce({ urls, ledger, namedBy, tree, signal }: Parameters): Promise<Finding> {
  const title =
    namedBy === "node"
      ? "What the chain says of the ledgers that the node names"
      : "What the chain says of this ledger";
  const told = await askLedgers(ledger, signal);
  if (told.length === 0)
    return {
      title,
      checks: [
        isOpen("This node follows no such ledger, so nothing was compared", ledger ?? "It names none."),
      ],
    };
  const found: { checks: Check[]; fits: boolean }[] = [];
  for (const it of told) found.push(await verifyLedger(it, { urls, namedBy, tree, signal }));
  // If a file fits one of several ledgers, the others do not count.
  const fitting = found.filter(({ fits }) => fits);
  const counted = tree !== undefined && fitting.length > 0 ? fitting : found;
  return { title, checks: counted.flatMap(({ checks }) => checks) };
}

/** The checks of one ledger, and whether the chain has its head, or the reader's tree. */
async function verifyLedger(
  it: Awaited<ReturnType<typeof askLedgers>>[number],
  { urls, namedBy, tree, signal }: Omit<Parameters, "ledger">,
): Promise<{ checks: Check[]; fits: boolean }> {
  const { place, indexedBlock } = it;
  const id = idCheck(it);
  // The id names the contract. Without this check, a node could name a contract of its own, with any head.
  if (id.state !== "yes") return { checks: [id], fits: false };
  const wanted = tree === undefined ? indexedBlock : null;
  const readings = await readHeads(urls, place, wanted, signal);
  const { checks: sources, head } = sourceChecks(readings);
  if (head === null) return { checks: sources, fits: false };
  const isPublic = isReleaseChain(place.chainId);
  const code = codeCheck(head, place.contract, isPublic);
  // If the contract has other code, its answer about a ledger proves nothing.
  if (code.state === "no") return { checks: [...sources, code], fits: false };
  const prove = (from: number, to: number) => askConsistency(place.ledger, from, to, signal);
  const { block, isWanted: isSameBlock, tip } = readings;
  // The age is checked only if the block is one of the newest. The limit of an hour is far more than MANY_BLOCKS take.
  const isNewest = tree !== undefined || !isSameBlock || tip - block <= MANY_BLOCKS;
  const age = isNewest ? ageCheck(head, isPublic, Date.now() / 1_000) : [];
  const compared =
    tree === undefined
      ? [...recentCheck(it, tip), ...(await nodeHeadChecks(it.tree, head, it, { block, isSameBlock, prove }))]
      : await treeChecks(tree, head, prove);
  const states = compared.map(({ state }) => state);
  return {
    checks: [...sources, ...age, code, id, ledgerCheck(it, namedBy), ...compared],
    fits: states.includes("yes") && !states.includes("no"),
  };
}
