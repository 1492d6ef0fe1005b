import type { Address } from "tallystick-protocol/address";
import type { AuditorAccount } from "./operatorNode.ts";

/** The time of a node's last tick, and of the last final block; unix seconds. */
export type Times = { time: number; finalTime: number };

/**
 * Of a node's answers at each tick, gives what is final: an auditor's verdicts as far as they were there at a final tick,
 * and still are.
 */
export function createFinalAccounts() {
  /** Accrued amounts at ticks that are not final yet, in order, after the last final one. */
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

/** The same for things that exist or do not: those that existed at a final tick, and at every one since. */
export function createFinalSet<It extends { id: string }>() {
  let since = new Map<string, number>();

  return (items: readonly It[], { time, finalTime }: Times): It[] => {
    since = new Map(items.map(({ id }) => [id, since.get(id) ?? time]));
    return items.filter(({ id }) => (since.get(id) as number) <= finalTime);
  };
}
