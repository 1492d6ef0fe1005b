import { itemsOf } from "../../lists.ts";
import { forEachRow } from "../../loadedRows.ts";
import { selectNumbers } from "../../orderedSet.ts";
import type { Store } from "../../store.ts";
import type { Row } from "../../tables.ts";
import { NANO, nanoOf } from "../nano.ts";
import { badFamilies, familyLatenciesOf, MIN_FAMILIES, slaFamiliesOf } from "./slaFamilies.ts";
import { isBeyond, isLatency } from "./terms.ts";

type Seen = { good: number; bad: number };

/**
 * Whether the buyers of some days also find that a guarantee is broken. Each family of buyers has one vote. At least
 * three families must have had a bad hire, and the mean of the families' shares of good hires must be beyond the
 * threshold. So an attacker who wants to breach a guarantee of 90 % needs more than one family for every nine that
 * buy there. `deep` has no vote.
 *
 * The rows of the days name up to three families with bad figures. Only if they name three in all, the rows of all
 * families are read.
 */
export function familiesFindBroken(
  store: Store,
  guarantee: Row<"guarantee">,
  days: readonly Row<"slaDay">[],
): boolean {
  if (guarantee.metric === "uptime") return true;
  const named = new Set(days.flatMap((day) => badFamilies(guarantee, day)));
  if (named.size < MIN_FAMILIES) return false;
  let [shares, families] = [0, 0];
  for (const { good, bad } of seenByFamily(store, guarantee, days).values()) {
    if (good + bad === 0) continue;
    shares += nanoOf(BigInt(good), BigInt(good + bad));
    families++;
  }
  return BigInt(shares) < minShare(guarantee) * BigInt(families);
}

/** The share of good hires below which a guarantee is broken, in units of 10⁻⁹. For `latency_p95` it is 95 %. */
function minShare({ metric, threshold }: Row<"guarantee">): bigint {
  return isLatency({ metric }) ? (BigInt(metric.slice("latency_p".length)) * BigInt(NANO)) / 100n : threshold;
}

function seenByFamily(
  store: Store,
  guarantee: Row<"guarantee">,
  days: readonly Row<"slaDay">[],
): Map<string, Seen> {
  const byFamily = new Map<string, Seen>();
  const inDays = days.flatMap(({ id: day }) =>
    [...itemsOf(store, slaFamiliesOf(day))].map((family) => ({ family, id: `${day}/${family}` })),
  );
  forEachRow(inDays, ({ family, id }) => {
    const row = store.get("slaFamily", id);
    if (row === null) return;
    const { good, bad } = byFamily.get(family) ?? { good: 0, bad: 0 };
    const seen = isLatency(guarantee)
      ? latenciesSeen(store, guarantee, row)
      : { good: row.ok, bad: row.failed };
    byFamily.set(family, { good: good + seen.good, bad: bad + seen.bad });
  });
  return byFamily;
}

/** How many of a family's latencies are within the threshold, by binary search. */
function latenciesSeen(store: Store, guarantee: Row<"guarantee">, row: Row<"slaFamily">): Seen {
  const { id, latencies, slowest } = row;
  const isBad = (ms: bigint) => isBeyond(guarantee, { n: ms, d: 1n }, guarantee.threshold);
  if (slowest === null || !isBad(BigInt(slowest))) return { good: latencies, bad: 0 };
  let [low, high] = [0, latencies - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [ms = 0n] = selectNumbers(store, familyLatenciesOf(id), [middle]);
    if (isBad(ms)) high = middle;
    else low = middle + 1;
  }
  return { good: low, bad: latencies - low };
}
