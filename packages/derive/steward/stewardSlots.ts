import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";

/**
 * What the leaf of an agent's score has, in the order of RFC 8785: all of its row that changes only when it is computed. What records add in between is told by
 * their own leaves, or by the ledger.
 */
const LEAF_COLUMNS = [
  "algorithmScore",
  "computedBlock",
  "computedTime",
  "counted",
  "decayedSuccess",
  "decayedUptime",
  "denied",
  "difficultySuccess",
  "endorsementCount",
  "endorsements",
  "endorserTrust",
  "failed",
  "freshness",
  "guarantees",
  "id",
  "leftOut",
  "ownTrust",
  "score",
  "scoredAttestation",
  "slaLeft",
  "slotSums",
  "slots",
  "succeeded",
  "successRate",
  "testCoverage",
  "tier",
  "uniqueEndorsers",
  "uptime",
] as const satisfies (keyof Row<"steward">)[];

/** The RFC 8785 text of the leaf of an agent's score, `["steward", row]`. */
export function stewardLeafText(row: Row<"steward">): string {
  const leaf: { [column: string]: unknown } = {};
  for (const column of LEAF_COLUMNS) leaf[column] = row[column];
  return JSON.stringify(["steward", leaf]);
}

/**
 * Keeps what the scores of a slot of the hour come to together: the root of the tree of RFC 6962 over their leaves, in the order in which the agents
 * came to the slot. They change at once and all of them, so that one leaf of the digest stands for them, and a proof of one is as short.
 */
export async function closeSlot(
  context: ApplyContext,
  slot: number,
  rows: readonly Row<"steward">[],
): Promise<void> {
  if (rows.length === 0) return;
  const { block, time } = context.at;
  const root = merkleRoot(
    context,
    rows.map((row) => context.sha256Hex(`\u0000${stewardLeafText(row)}`, "utf8")),
  );
  const id = String(slot);
  const change = { agents: rows.length, root, block, time };
  if ((await context.store.get("stewardSlot", id)) === null)
    await context.store.insert("stewardSlot", { id, ...change });
  else await context.store.update("stewardSlot", id, change);
}

/** RFC 6962 §2.1, a level at a time: a node without a neighbour goes up as it is. */
function merkleRoot(context: ApplyContext, leaves: readonly string[]): string {
  let level = leaves;
  while (level.length > 1) {
    const above: string[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left = "", right] = [level[at], level[at + 1]];
      above.push(right === undefined ? left : context.sha256Hex(`01${left}${right}`, "hex"));
    }
    level = above;
  }
  return level[0] ?? "";
}
