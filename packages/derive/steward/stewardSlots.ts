import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";

/**
 * The columns in the leaf of an agent's score, in the order of RFC 8785. They change only when the score is
 * computed. Other columns change with records, which have their own leaves or are in the ledger.
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
  let text = "";
  for (const column of LEAF_COLUMNS) {
    const value = row[column];
    text += `${text === "" ? "" : ","}"${column}":${typeof value === "string" ? JSON.stringify(value) : value}`;
  }
  return `["steward",{${text}}]`;
}

/**
 * Stores the RFC 6962 root over the leaves of all scores in a slot of the hour, in the order in which the
 * agents joined the slot. All these scores change together, so the digest has one leaf for them, and the
 * proof of one score stays short.
 */
export function closeSlot(context: ApplyContext, slot: number, rows: readonly Row<"steward">[]): void {
  if (rows.length === 0) return;
  const { block, time } = context.at;
  const root = merkleRoot(
    context,
    rows.map((row) => context.sha256Hex(`\u0000${stewardLeafText(row)}`, "utf8")),
  );
  const id = String(slot);
  const change = { agents: rows.length, root, block, time };
  if (context.store.get("stewardSlot", id) === null) context.store.insert("stewardSlot", { id, ...change });
  else context.store.update("stewardSlot", id, change);
}

/** The root by RFC 6962 §2.1, computed level by level. A node without a neighbour moves up unchanged. */
function merkleRoot(context: ApplyContext, leaves: readonly string[]): string {
  let level = leaves;
  while (level.length > 1) {
    const above: string[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = level.slice(at, at + 2) as [string, string?];
      above.push(right === undefined ? left : context.sha256Hex(`01${left}${right}`, "hex"));
    }
    level = above;
  }
  return level[0] as string;
}
