import type { Params } from "tallystick-protocol/records/params";
import { findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { clusterOf, joinCluster, type Trip } from "../clusters.ts";
import { append, itemsOf, lastItem, listLength } from "../lists.ts";
import type { Entry } from "../orderIndex.ts";
import { isHubOrEscrow } from "../wallets.ts";
import { addFunded, type Order } from "./fundedAgents.ts";

/**
 * Notes that `funder` funded `agent` at `time`. A signal trips if a span contains the agent and `clusterOthers` other
 * agents of that funder (SHP §4.5.1). A span of time has the fundings within `fundingSpanSeconds`, both ends
 * included. A span of blocks has the agents that were registered within `deployBatchBlocks` blocks, whenever they
 * were funded.
 */
export function recordFunding(
  context: ApplyContext,
  funder: string,
  agent: { id: string; registeredBlock: number },
  time: number,
): void {
  const { fundingSpanSeconds, deployBatchBlocks } = context.params;
  const { id, registeredBlock: block } = agent;
  const {
    byTime,
    byBlock,
    others: mostOthers,
  } = addFunded(context.store, funder, { agent: id, time, block });
  // Most funders funded so few agents that no span can trip the signal.
  if (mostOthers < context.params.clusterOthers || (byTime === null && byBlock === null)) return;
  // The money that a hub sent before it was published as a hub stays stored, but no longer joins agents.
  if (isHubOrEscrow(context, funder)) return;
  const wasHub = listLength(context.store, takenBack(funder)) > 0;
  const widened = lastWidening(context);
  const spans = (order: Order | null, at: number, length: number, widenedAt: number | undefined) => {
    if (order === null) return [];
    const whole = wasHub || reachesBack(order, { at, member: id }, length, widenedAt);
    return trippedSpans(context, order, { at, member: id }, length, whole);
  };
  for (const others of spans(byTime, time, fundingSpanSeconds, widened?.time)) {
    trip(context, funder, [id, ...others]);
  }
  for (const others of spans(byBlock, block, deployBatchBlocks - 1, widened?.block)) {
    joinCluster(context, { members: [id, ...others], signal: "deploy_batch", funder });
  }
}

/**
 * Whether a span around an entry may contain agents that were not joined, because they came before the parameters were
 * widened.
 */
function reachesBack(
  order: Order,
  { at, member }: Entry,
  length: number,
  widenedAt: number | undefined,
): boolean {
  if (widenedAt === undefined || at - length > widenedAt) return false;
  for (const before of order.down(Math.min(at + length, widenedAt), at - length)) {
    if (before.member !== member) return true;
  }
  return false;
}

/**
 * Notes that from now on fewer other agents, a longer span or a longer batch are enough to trip a signal.
 * This alone joins nobody. The next funding in such a span does.
 */
export function noteWidened(context: ApplyContext, params: Params): void {
  const before = context.params;
  const wider =
    params.clusterOthers < before.clusterOthers ||
    params.fundingSpanSeconds > before.fundingSpanSeconds ||
    params.deployBatchBlocks > before.deployBatchBlocks;
  if (wider) append(context.store, WIDENED, `${context.at.time} ${context.at.block}`);
}

function lastWidening(context: ApplyContext): { time: number; block: number } | undefined {
  const last = lastItem(context.store, WIDENED);
  if (last === null) return undefined;
  const [time, block] = last.split(" ").map(Number) as [number, number];
  return { time, block };
}

/** The list of the places at which the parameters were widened: `<time> <block>`. */
const WIDENED = "widened";

/**
 * The other members of each span around an entry that trips the signal now. It is enough to look at the nearest few
 * on either side. A span with more agents tripped the signal before, so its agents are in one cluster already. Whole
 * spans are looked at (`whole`) in two cases: the signals of this funder were dropped because it was published as a
 * hub, or the span began under narrower parameters.
 */
function trippedSpans(
  context: ApplyContext,
  order: Order,
  entry: Entry,
  length: number,
  whole: boolean,
): Set<string>[] {
  const { clusterOthers: needed } = context.params;
  const { at, member } = entry;
  const count = whole ? Number.POSITIVE_INFINITY : needed;
  const below = nearest(order.down(at, at - length), member, count);
  const above = nearest(order.up(at + 1, at + length), member, count);
  if (whole) return wholeSpans(below, above, at, length, needed);
  if (below.length + above.length < needed) return [];
  const spans: Set<string>[] = [];
  for (let i = 0; i <= below.length; i++) {
    for (let j = 0; j <= above.length; j++) {
      const start = below[i - 1]?.at ?? at;
      const end = above[j - 1]?.at ?? at;
      const others = new Set([...below.slice(0, i), ...above.slice(0, j)].map((it) => it.member));
      if (others.size >= needed && end - start <= length) {
        spans.push(others);
        break;
      }
    }
  }
  return spans;
}

/**
 * The other members of all spans that trip the signal, as one set. Each span contains the entry itself. The loop moves
 * a span from the top down, so it adds and removes every entry only once.
 */
function wholeSpans(
  below: Entry[],
  above: Entry[],
  at: number,
  length: number,
  needed: number,
): Set<string>[] {
  const within = new Map<string, number>();
  const count = ({ member }: Entry, by: 1 | -1) => {
    const times = (within.get(member) ?? 0) + by;
    if (times === 0) within.delete(member);
    else within.set(member, times);
  };
  for (const entry of above) count(entry, 1);
  const joined = new Set<string>();
  let end = above.length;
  let tripped = false;
  for (let i = 0; i <= below.length; i++) {
    const last = below[i - 1];
    if (last !== undefined) count(last, 1);
    // The farther down a span begins, the sooner it ends.
    for (; end > 0 && (above[end - 1]?.at ?? at) - (last?.at ?? at) > length; end--) {
      count(above[end - 1] as Entry, -1);
    }
    if (within.size < needed) tripped = false;
    else if (tripped && last !== undefined) joined.add(last.member);
    else {
      for (const member of within.keys()) joined.add(member);
      tripped = true;
    }
  }
  return joined.size === 0 ? [] : [joined];
}

/** The first `count` different members other than `member`. */
function nearest(entries: ReturnType<Order["up"]>, member: string, count: number): Entry[] {
  const found: Entry[] = [];
  const seen = new Set([member]);
  for (const entry of entries) {
    if (seen.has(entry.member)) continue;
    seen.add(entry.member);
    found.push(entry);
    if (found.length === count) break;
  }
  return found;
}

function trip(context: ApplyContext, funder: string, members: string[]): void {
  const funderIsAgent = findAgent(context, funder) !== null;
  const joined = funderIsAgent ? [...members, funder] : members;
  joinCluster(context, { members: joined, signal: "funding_origin", funder });
  if (!funderIsAgent) rememberTrip(context, funder, members);
}

/**
 * A funder that becomes an agent later joins the agents of the signals that it tripped. One member of each
 * cluster is enough to find them.
 */
function rememberTrip(context: ApplyContext, funder: string, members: string[]): void {
  const member = members[0] as string;
  const last = lastItem(context.store, tripsOf(funder));
  const known = last === null || last === FORGOTTEN ? null : clusterOf(context, last, "ownership");
  if (known !== null && known.id === clusterOf(context, member, "ownership")?.id) return;
  append(context.store, tripsOf(funder), member);
}

/**
 * Called when tripped signals moved to other clusters. The one member that was remembered for a cluster may now lead to
 * fewer agents, so a member of each signal is remembered again.
 */
export function rememberTrips(context: ApplyContext, trips: Trip[]): void {
  for (const { signal, funder, members } of trips) {
    if (signal !== "funding_origin" || funder === null || findAgent(context, funder) !== null) continue;
    rememberTrip(context, funder, members);
  }
}

/**
 * Called when a funder is no longer a hub. The signals that it tripped before it was a hub stay dropped, but
 * its fundings are still known.
 */
export function noteTakenBack(context: ApplyContext, funder: string): void {
  append(context.store, takenBack(funder), String(context.at.block));
}

function takenBack(funder: string): string {
  return `takenBack/${funder}`;
}

/** Forgets with whom a funder tripped a signal, because it was published as a hub. */
export function forgetTrips(context: ApplyContext, funder: string): void {
  if (lastItem(context.store, tripsOf(funder)) === null) return;
  append(context.store, tripsOf(funder), FORGOTTEN);
}

/** Called when a funder becomes an agent. Joins it to the agents of the signals that it tripped. */
export function joinAsFunder(context: ApplyContext, funder: string): void {
  let members: string[] = [];
  for (const member of itemsOf(context.store, tripsOf(funder))) {
    if (member === FORGOTTEN) members = [];
    else members.push(member);
  }
  if (members.length === 0) return;
  joinCluster(context, { members: [...members, funder], signal: "funding_origin", funder });
}

/** An item of the list {@link tripsOf}: everything before it is void. */
const FORGOTTEN = "";

function tripsOf(funder: string): string {
  return `trips/${funder}`;
}
