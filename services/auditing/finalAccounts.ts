import type { Address } from "tallystick-protocol/address";
import type { AuditorAccount } from "./operatorNode.ts";

/** The time of a node's last tick, and of the last block that no reorganization takes back; unix seconds. */
export type Times = { time: number; finalTime: number };

/**
 * Of what a node says from tick to tick, gives what no reorganization takes back: an auditor's verdicts as far as they were there at
 * a final tick, and still are.
 */
export function createFinalAccounts() {
  /** What was accrued at ticks that are not final yet, in their order, after the last that is. */
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

/** The same of things that are there or not: those that were there at a final tick, and at every one since. */
export function createFinalSet<It extends { id: string }>() {
  let since = new Map<string, number>();

  return (items: readonly It[], { time, finalTime }: Times): It[] => {
    since = new Map(items.map(({ id }) => [id, since.get(id) ?? time]));
    return items.filter(({ id }) => (since.get(id) as number) <= finalTime);
  };
}
