import type { Facts, Group, Listing, Transfer } from "./facts.ts";

/** Merges sets that have a member in common, until none have. */
export function components(sets: Iterable<Set<string>>): Set<string>[] {
  const merged: Set<string>[] = [];
  for (const set of sets) {
    const touching = merged.filter((it) => [...it].some((member) => set.has(member)));
    for (const it of touching) merged.splice(merged.indexOf(it), 1);
    merged.push(new Set([...touching, set].flatMap((it) => [...it])));
  }
  return merged;
}

/** Shared ownership: the clusters of all groups that fundings made, each with its funder if that is an agent. */
export function ownershipGroups(facts: Facts): Set<string>[] {
  noteFundings(facts);
  return components(fundedGroups(facts).map((it) => it.members));
}

/** Listings alike. */
export function fingerprintGroups(facts: Facts): Set<string>[] {
  return components(facts.groups.filter((it) => it.funder === null).map((it) => it.members));
}

/** The signals that an agent tripped, in order. */
export function signalsOf(facts: Facts, address: string): string[] {
  const groups = [...fundedGroups(facts), ...facts.groups.filter((it) => it.funder === null)];
  const tripped = groups.filter(({ members }) => members.has(address));
  return [...new Set(tripped.map((it) => it.signal))].sort();
}

function fundedGroups(facts: Facts): Group[] {
  return facts.groups.flatMap(({ funder, signal, members }) => {
    if (funder === null) return [];
    const joins = signal === "funding_origin" && facts.agents.has(funder);
    return [{ funder, signal, members: joins ? new Set([...members, funder]) : members }];
  });
}

/**
 * Adds every (funder, agent, time) that this event shows: each way back from each funding transfer to an agent, when the
 * transfer becomes plain or the agent is registered.
 */
export function noteFundings(facts: Facts): void {
  const legs = facts.transfers.filter((it) => isFunding(facts, it));
  const walk = (leg: Transfer, last: Transfer, intermediaries: number) => {
    if (leg.from !== last.to) addFunding(facts, leg.from, last.to, last.time);
    if (intermediaries === 0) return;
    const passer = facts.agents.get(leg.from);
    if (passer !== undefined && before(passer, leg)) return;
    for (const earlier of legs) {
      if (earlier.to === leg.from && before(earlier, leg)) walk(earlier, last, intermediaries - 1);
    }
  };
  for (const last of legs) {
    const agent = facts.agents.get(last.to);
    if (agent === undefined) continue;
    if (last.plainFrom === facts.now || agent.index === facts.now) {
      walk(last, last, facts.params.maxIntermediaries);
    }
  }
}

/** Looks at every span, of times and of registrations, that holds a funding which was not known before (SHP §4.5.1). */
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
  addSpans(facts, { signal: "funding_origin", funder }, funded, time, fundingSpanSeconds);
  if (known) return;
  const blockOf = (it: string) => facts.agents.get(it)?.block ?? 0;
  const registered = funded.map((it) => ({ agent: it.agent, at: blockOf(it.agent) }));
  addSpans(facts, { signal: "deploy_batch", funder }, registered, blockOf(agent), deployBatchBlocks - 1);
}

function addSpans(
  facts: Facts,
  group: Omit<Group, "members">,
  entries: { agent: string; at: number }[],
  at: number,
  length: number,
): void {
  for (const start of entries) {
    if (start.at > at || at - start.at > length) continue;
    const span = entries.filter((it) => it.at >= start.at && it.at - start.at <= length);
    const members = new Set(span.map((it) => it.agent));
    if (members.size > facts.params.clusterOthers) facts.groups.push({ ...group, members });
  }
}

/** Whether a transfer of `value` is enough, of all that its receiver got by then, to fund it. */
export function isLarge(facts: Facts, value: bigint, receivedSoFar: bigint): boolean {
  const { minFundingAtomic, fundingShare } = facts.params;
  return (
    value >= BigInt(minFundingAtomic) &&
    value * BigInt(fundingShare.denominator) >= receivedSoFar * BigInt(fundingShare.numerator)
  );
}

function isFunding(facts: Facts, it: Transfer): boolean {
  return it.large && it.plainFrom !== null && it.plainFrom <= facts.now && (it.decided || !it.claimed);
}

function before(a: { block: number; log: number }, b: { block: number; log: number }): boolean {
  return a.block < b.block || (a.block === b.block && a.log < b.log);
}

/** Agents with three others alike, and those, as the listings are now: all pairs. */
export function fingerprintStars(facts: Facts): Set<string>[] {
  const byAgent = Map.groupBy(
    facts.listings.filter((it) => it.live),
    (it) => it.agent,
  );
  const sets = [...byAgent].map(([agent, listings]) => ({
    agent,
    tokens: new Set(listings.flatMap(tokens)),
  }));
  return sets.flatMap((a) => {
    const alike = sets.filter((b) => b !== a && cosineHolds(a.tokens, b.tokens));
    return alike.length >= facts.params.clusterOthers ? [new Set([a, ...alike].map((it) => it.agent))] : [];
  });
}

function cosineHolds(a: Set<string>, b: Set<string>): boolean {
  const shared = [...a].filter((it) => b.has(it)).length;
  return 625 * shared * shared >= 529 * a.size * b.size;
}

function tokens({ capability, price, latency, mode, host }: Listing): string[] {
  const [whole = "0", fraction = ""] = price.split(".");
  const atomic = BigInt(whole + fraction.padEnd(6, "0"));
  return [
    `c|${capability}`,
    `p|${capability}|${atomic.toString(2).length}`,
    `l|${capability}|${latency.toString(2).length}`,
    `m|${capability}|${mode}`,
    `h|${host}`,
  ];
}

/** The size of the group that both are in, the largest of either kind, else 1. */
export function sharedSize(facts: Facts, a: string, b: string): number {
  const groups = [...ownershipGroups(facts), ...fingerprintGroups(facts)];
  return Math.max(1, ...groups.filter((it) => it.has(a) && it.has(b)).map((it) => it.size));
}
