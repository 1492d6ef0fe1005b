import type { EscrowState } from "./acts.ts";

const BADGES: { [status in EscrowState["status"]]: { name: string; kind: string } } = {
  none: { name: "Not deposited", kind: "" },
  held: { name: "Held", kind: "claimed" },
  released: { name: "Released", kind: "good" },
  split: { name: "Split", kind: "good" },
  refunded: { name: "Refunded", kind: "warn" },
  timedOut: { name: "Timed out", kind: "warn" },
};

/** The state of the money in an escrow, in a word or two. */
export function EscrowBadge({ status }: Pick<EscrowState, "status">) {
  const { name, kind } = BADGES[status];
  return <span class={`badge ${kind}`}>{name}</span>;
}
