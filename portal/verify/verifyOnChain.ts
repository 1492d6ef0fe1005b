import { readHeads } from "../chain/readHeads.ts";
import { askConsistency, askLedgers } from "./askLedgers.ts";
import type { Check, Finding } from "./check.ts";
import {
  idCheck,
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

async function verifyOnce({ urls, ledger, tree, signal }: Parameters): Promise<Finding> {
  const told = await askLedgers(ledger, signal);
  const found: Check[][] = [];
  for (const it of told) {
    const { place, indexedBlock } = it;
    const checks: Check[] = [];
    found.push(checks);
    const id = idCheck(it);
    // The id names the contract. Without this, a node could name a contract of its own, with any head.
    if (id.state !== "yes") {
      checks.push(id);
      continue;
    }
    const wanted = tree === undefined ? indexedBlock : null;
    const readings = await readHeads(urls, place, wanted, signal);
    const sources = sourceChecks(readings);
    checks.push(...sources.checks);
    if (sources.head === null) continue;
    checks.push(id);
    const prove = (from: number, to: number) => askConsistency(place.ledger, from, to, signal);
    const { block, isWanted: isSameBlock, tip } = readings;
    checks.push(
      ...(tree === undefined
        ? [
            ...recentCheck(it, tip),
            ...(await nodeHeadChecks(it.tree, sources.head, it, { block, isSameBlock, prove })),
          ]
        : await treeChecks(tree, sources.head, prove)),
    );
  }
  // A file does not name its ledger. If it fits one of several ledgers, the others do not count.
  const holding = found.filter((checks) => checks.every(({ state }) => state !== "no"));
  const counted = tree !== undefined && holding.length > 0 ? holding : found;
  return { title: "What the chain says", checks: counted.flat() };
}
