import type { Listing } from "tallystick-protocol/records/listing";
import { NoSellerError } from "../errors.ts";

/** The end of the year 9999, unix seconds. */
const LATEST = 253_402_300_799;

/** Until when an agent takes no new hires, for a breach of its SLA, unix seconds; null when it takes new hires. */
export type Suspension = number | null;

/** Reads a time from a node, up to the year 9999. Anything else counts as the latest possible time. */
export function readSuspension(seconds: unknown): Suspension {
  if (seconds === undefined || seconds === null) return null;
  return Number.isSafeInteger(seconds) ? Math.min(Math.max(0, seconds as number), LATEST) : LATEST;
}

/** @throws NoSellerError `seller_suspended` */
export function requireNotSuspended({ agent_id }: Pick<Listing, "agent_id">, until: Suspension): void {
  if (until === null) return;
  throw new NoSellerError({
    code: "seller_suspended",
    message: `${agent_id} takes no new hires until ${new Date(until * 1_000).toISOString()}: it broke its SLA.`,
    hint: "Take another seller, or wait. GET /v1/agents/{id}/sla of the node says which promise it broke.",
  });
}
