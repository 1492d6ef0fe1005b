import type { Address } from "tallystick-protocol/address";
import type { AuditorAccount } from "./operatorNode.ts";

/** The time of a node's last tick, and of the last final block; unix seconds. */
export type Times = { time: number; finalTime: number };

/**
 * Makes a filter that lowers what auditors have earned to the final part of it. An amount is final if the node gave it
 * at a tick that is final by now, and still gives at least that much. `paid` stays as it is.
 */
export function createFinalAccounts() {
  /** For each auditor, the amounts at the last final tick and at all later ticks, in order. */
  const seen = new Map<Address, { time: number; accrued: bigint }[]>();

  return (accounts: readonly AuditorAccount[], { time, finalTime }: Times): AuditorAccount[] =>
    accounts.map(({ auditor, accrued, paid }) => {
      const list = (seen.get(auditor) ?? []).filter((it) => it.time < time);
      list.push({ time, accrued });
      const last = list.findLastIndex((it) => it.time <= finalTime);
      seen.set(auditor, list.slice(Math.max(0, last)));
      const final = list[last]?.accrued ?? 0n;
      return { auditor, accrued: final < accrued ? final : accrued, paid };
    });
}

/**
 * Makes a filter for lists of items. It keeps the items that were in the list at a final tick and at every later one.
 */
export function createFinalSet<It extends { id: string }>() {
  let since = new Map<string, number>();

  return (items: readonly It[], { time, finalTime }: Times): It[] => {
    since = new Map(items.map(({ id }) => [id, since.get(id) ?? time]));
    return items.filter(({ id }) => (since.get(id) as number) <= finalTime);
  };
}
