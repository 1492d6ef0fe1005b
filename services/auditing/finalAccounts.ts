import type { Address } from "tallystick-protocol/address";
import type { AuditorAccount } from "./operatorNode.ts";

/**
 * Two times that belong to answers of a node, in unix seconds. `time` is the time of the node's last tick. The node is
 * asked for `time` after the answers. So the answers may cover blocks after this tick, but no block after the next
 * tick. `finalTime` is the time of the last final block.
 */
export type Times = { time: number; finalTime: number };

/**
 * Makes a filter that lowers the earnings of auditors to their final part. The node gives an amount, and then its last
 * tick. The amount is final when a later tick is final. The filter returns the last amount that is final. If the node
 * now gives a smaller amount, the filter returns the smaller amount. `paid` stays as it is.
 */
export function createFinalAccounts() {
  const finalTick = createFinalTick();
  /** For each auditor, the last amount before the last final tick, and all later amounts, in order. */
  const seen = new Map<Address, { time: number; accrued: bigint }[]>();

  return (accounts: readonly AuditorAccount[], times: Times): AuditorAccount[] => {
    const tick = finalTick(times);
    return accounts.map(({ auditor, accrued, paid }) => {
      const list = (seen.get(auditor) ?? []).filter((it) => it.time < times.time);
      list.push({ time: times.time, accrued });
      const last = list.findLastIndex((it) => it.time < tick);
      seen.set(auditor, list.slice(Math.max(0, last)));
      const final = list[last]?.accrued ?? 0n;
      return { auditor, accrued: final < accrued ? final : accrued, paid };
    });
  };
}

/**
 * Makes a filter for lists of items. The filter keeps an item if the item came before the last final tick, and has been
 * in every list since it came. `unread` has the ids of items that could not be read for a list. Such an item may be
 * missing from the list, and the filter still remembers when the item came.
 */
export function createFinalSet<It extends { id: string }>() {
  const finalTick = createFinalTick();
  let since = new Map<string, number>();

  return (items: readonly It[], times: Times, unread: ReadonlySet<string> = new Set()): It[] => {
    const tick = finalTick(times);
    const kept = [...since].filter(([id]) => unread.has(id));
    since = new Map([...kept, ...items.map(({ id }) => [id, since.get(id) ?? times.time] as const)]);
    return items.filter(({ id }) => (since.get(id) as number) < tick);
  };
}

/** Remembers the ticks of a node, and finds the time of the last final tick; −1 if no tick is final. */
function createFinalTick(): (times: Times) => number {
  /** The last final tick, and all later ones, in order. */
  let ticks: number[] = [];
  return ({ time, finalTime }) => {
    ticks = [...ticks.filter((it) => it < time), time];
    const last = ticks.findLastIndex((it) => it <= finalTime);
    ticks = ticks.slice(Math.max(0, last));
    return last < 0 ? -1 : (ticks[0] ?? -1);
  };
}
