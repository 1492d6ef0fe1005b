import { addTrip } from "./clusters.ts";
import type { Facts, Transfer } from "./facts.ts";

/**
 * Whether a transfer of `value` is large enough to fund its receiver. `receivedSoFar` is everything that the receiver got
 * until then, with this transfer.
 */
export function isLarge(facts: Facts, value: bigint, receivedSoFar: bigint): boolean {
  const { minFundingAtomic, fundingShare } = facts.params;
  return (
    value >= BigInt(minFundingAtomic) &&
    value * BigInt(fundingShare.denominator) >= receivedSoFar * BigInt(fundingShare.numerator)
  );
}

/** Makes a transfer plain: it is not presumed a hire payment. If its receiver is an agent, this transfer funds the agent now. */
export function becomePlain(facts: Facts, it: Transfer): void {
  it.plain = facts.transfers.filter(({ plain }) => plain !== null).length;
  if (facts.agents.has(it.to) && isFunding(it)) fund(facts, it.to, [it]);
}

/**
 * Runs when an agent was registered. All its earlier fundings count from now on. If its money made groups, the agent
 * joins all of them.
 */
export function noteRegistered(facts: Facts, agent: string): void {
  fund(facts, agent, fundingsInto(facts, agent));
  const funded = facts.trips.filter((it) => it.funder === agent && it.signal === "funding_origin");
  if (funded.length === 0) return;
  const members = new Set([...funded.flatMap((it) => [...it.members]), agent]);
  addTrip(facts, { signal: "funding_origin", funder: agent, members });
}

type Path = { from: string; time: number; steps: number; first: Transfer };

/**
 * Adds the fundings of all paths to an agent that end with one of these transfers: at most the 64 nearest, in the order
 * of the walk.
 */
function fund(facts: Facts, agent: string, last: Transfer[]): void {
  const paths = last.flatMap((it) => walk(facts, it, it, 0)).filter((it) => it.from !== agent);
  const named = Object.values(Object.groupBy(paths, (it) => `${it.from} at ${it.time}`));
  const fundings = named.flatMap((all = []) => all.toSorted(nearer).slice(0, 1));
  const near = fundings.toSorted(nearer).slice(0, 64);
  for (const it of fundings) if (near.includes(it)) addFunding(facts, it.from, agent, it.time);
}

function nearer(a: Path, b: Path): number {
  if (a.steps !== b.steps) return a.steps - b.steps;
  return before(a.first, b.first) ? -1 : before(b.first, a.first) ? 1 : 0;
}

/**
 * Follows each path back from the last transfer to an agent: first its sender, then the sender's funders in order, depth first.
 */
function walk(facts: Facts, leg: Transfer, last: Transfer, steps: number): Path[] {
  const own = { from: leg.from, time: last.time, steps, first: leg };
  const passer = facts.agents.get(leg.from);
  const isOver = steps === facts.params.maxIntermediaries || (passer !== undefined && before(passer, leg));
  if (isOver) return [own];
  const earlier = fundingsInto(facts, leg.from).filter((it) => before(it, leg));
  return [own, ...earlier.flatMap((it) => walk(facts, it, last, steps + 1))];
}

/** The funding transfers into a wallet, in the order in which they became plain. */
function fundingsInto(facts: Facts, wallet: string): Transfer[] {
  return facts.transfers
    .filter((it) => it.to === wallet && isFunding(it))
    .sort((a, b) => (a.plain ?? 0) - (b.plain ?? 0));
}

function isFunding(it: Transfer): boolean {
  return it.large && it.plain !== null && (it.decided || !it.claimed);
}

function before(a: { block: number; log: number }, b: { block: number; log: number }): boolean {
  return a.block < b.block || (a.block === b.block && a.log < b.log);
}

/** An agent with its place in an order: the time of its funding, or the block of its registration. */
type Entry = { agent: string; at: number };
type Spans = {
  signal: string;
  funder: string;
  entries: Entry[];
  entry: Entry;
  length: number;
  back: boolean;
};

/** Checks every span of times and of registrations that contains a new funding (SHP §4.5.1). */
function addFunding(facts: Facts, funder: string, agent: string, time: number): void {
  const key = `${funder} ${agent} ${time}`;
  if (facts.fundings.has(key)) return;
  const known = [...facts.fundings].some((it) => it.startsWith(`${funder} ${agent} `));
  facts.fundings.add(key);
  if (facts.hubs.has(funder) || facts.escrowContracts.has(funder)) return;
  const { fundingSpanSeconds, deployBatchBlocks } = facts.params;
  const funded = [...facts.fundings].flatMap((it) => {
    const [by = "", who = "", at] = it.split(" ");
    return by === funder ? [{ agent: who, at: Number(at) }] : [];
  });
  const last = facts.widened.at(-1);
  const whole = (entries: Entry[], at: number, length: number, change: number | undefined) =>
    facts.hubsOnce.has(funder) ||
    entries.some(
      (it) => it.agent !== agent && change !== undefined && it.at <= change && Math.abs(it.at - at) <= length,
    );
  addSpans(facts, {
    signal: "funding_origin",
    funder,
    entries: funded,
    entry: { agent, at: time },
    length: fundingSpanSeconds,
    back: whole(funded, time, fundingSpanSeconds, last?.time),
  });
  if (known) return;
  const blockOf = (it: string) => facts.agents.get(it)?.block ?? 0;
  const registered = funded.map((it) => ({ agent: it.agent, at: blockOf(it.agent) }));
  const length = deployBatchBlocks - 1;
  addSpans(facts, {
    signal: "deploy_batch",
    funder,
    entries: registered,
    entry: { agent, at: blockOf(agent) },
    length,
    back: whole(registered, blockOf(agent), length, last?.block),
  });
}

/**
 * Adds whole spans as groups, as the definition says. Also adds the trips. Their order gives the clusters their ids.
 */
function addSpans(facts: Facts, spans: Spans): void {
  const { signal, funder, entries, entry, length, back } = spans;
  const whole = new Set<string>();
  for (const start of entries) {
    if (start.at > entry.at || entry.at - start.at > length) continue;
    const span = entries.filter((it) => it.at >= start.at && it.at - start.at <= length);
    const members = new Set(span.map((it) => it.agent));
    if (members.size <= facts.params.clusterOthers) continue;
    facts.groups.push({ signal, funder, members });
    for (const member of members) whole.add(member);
  }
  const taken = back ? [whole].filter((it) => it.size > 0) : nearestFew(facts, spans);
  const joins = signal === "funding_origin" && facts.agents.has(funder);
  for (const members of taken) {
    addTrip(facts, { signal, funder, members: joins ? new Set([...members, funder]) : members });
  }
}

/**
 * Takes the nearest 0, 1, 2, … other agents before the entry. To each choice it adds the nearest others after the entry,
 * as few as are enough.
 */
function nearestFew(facts: Facts, { entries, entry, length }: Spans): Set<string>[] {
  const { clusterOthers } = facts.params;
  const others = entries.filter((it) => it.agent !== entry.agent);
  const firstOfEach = (sorted: Entry[]) =>
    sorted.filter((it, n) => sorted.findIndex(({ agent }) => agent === it.agent) === n);
  const earlier = firstOfEach(others.filter((it) => it.at <= entry.at).sort((a, b) => b.at - a.at));
  const later = firstOfEach(others.filter((it) => it.at > entry.at).sort((a, b) => a.at - b.at));
  const found: Set<string>[] = [];
  for (let i = 0; i <= Math.min(clusterOthers, earlier.length); i++) {
    for (let j = 0; j <= Math.min(clusterOthers, later.length); j++) {
      const span = [...earlier.slice(0, i), entry, ...later.slice(0, j)];
      const members = new Set(span.map((it) => it.agent));
      if (members.size <= clusterOthers) continue;
      const times = span.map((it) => it.at);
      if (Math.max(...times) - Math.min(...times) <= length) found.push(members);
      break;
    }
  }
  return found;
}
