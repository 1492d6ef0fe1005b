import { plainText } from "../design/format.ts";
import type { AsOf } from "./asOf.ts";

/** Fields for the state of the node. Every page adds them to its own query. */
export const META = `meta { chainId indexedBlock
    ledgers { id origin size time }
    blockedAtSegment { ledger from to reason since } blockedAtTransfers { reason since } }`;

/** The answer to {@link META}. */
export type Meta = {
  chainId: number;
  indexedBlock: number;
  ledgers: { id: string; origin: string | null; size: number; time: number }[];
  blockedAtSegment: { ledger: string; from: string; to: string; reason: string; since: number } | null;
  blockedAtTransfers: { reason: string; since: number } | null;
};

export type NodeState = { meta: Meta | null; asOf: AsOf | null; at: number };

/**
 * A node whose last tick is older than this is behind. On Base this is the time of six ticks, and on the slowest chain
 * the time of three ticks.
 */
export const BEHIND_SECONDS = 1_800;

/** The message about a node that is stuck or behind; null if it is neither. `now` is in unix seconds. */
export function faultOf({ meta, asOf }: NodeState, now: number): { title: string; text: string } | null {
  const stopped = "Nothing later is derived until they are available.";
  if (meta?.blockedAtSegment) {
    const [from, to, reason] = ["from", "to", "reason"].map((name) => told(meta.blockedAtSegment, name));
    return {
      title: "This node waits for entries of a ledger",
      text: `Entries ${from} to ${to}: ${reason}. ${stopped}`,
    };
  }
  if (meta?.blockedAtTransfers)
    return {
      title: "This node waits for transfers of the token",
      text: `${told(meta.blockedAtTransfers, "reason")}. ${stopped}`,
    };
  if (asOf !== null && now - asOf.time > BEHIND_SECONDS) {
    const minutes = Math.floor((now - asOf.time) / 60);
    const age = minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} hours`;
    return {
      title: "This node is behind",
      text: `Its figures are as of block ${asOf.block}, ${age} ago. What happened since is missing.`,
    };
  }
  return null;
}

/** A text or number of a node's answer, which may have any form. Every page shows it, so it must never be an error. */
function told(from: unknown, name: string): string {
  const value = (Object(from) as { [name: string]: unknown })[name];
  return typeof value === "string" || typeof value === "number" ? plainText(String(value)) : "unknown";
}
