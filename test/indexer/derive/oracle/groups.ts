import type { Facts, Listing, Transfer } from "./facts.ts";

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

/** Shared ownership: all paths, all funders, all spans (SHP §4.5.1). */
export function ownershipGroups(facts: Facts): Set<string>[] {
  noteFundings(facts);
  const groups: Set<string>[] = [];
  const fundings = [...facts.fundings].map((it) => {
    const [funder = "", agent = "", time] = it.split(" ");
    return { funder, agent, time: Number(time) };
  });
  const byFunder = Map.groupBy(fundings, (it) => it.funder);
  for (const [funder, funded] of byFunder) {
    if (facts.hubs.has(funder)) continue;
    for (const start of funded) {
      const span = funded.filter(
        (it) => it.time >= start.time && it.time - start.time <= facts.params.fundingSpanSeconds,
      );
      const agents = new Set(span.map((it) => it.agent));
      if (agents.size > facts.params.clusterOthers) {
        groups.push(facts.agents.has(funder) ? agents.add(funder) : agents);
      }
    }
    for (const start of funded) {
      const block = facts.agents.get(start.agent)?.block ?? 0;
      const batch = funded.filter((it) => {
        const other = facts.agents.get(it.agent)?.block ?? 0;
        return other >= block && other - block < facts.params.deployBatchBlocks;
      });
      const agents = new Set(batch.map((it) => it.agent));
      if (agents.size > facts.params.clusterOthers) groups.push(agents);
    }
  }
  return components(groups);
}

/** Adds every (funder, agent, time) there is by now: each way back from each transfer to an agent. */
export function noteFundings(facts: Facts): void {
  const legs = facts.transfers.filter((it) => isFunding(facts, it));
  const walk = (leg: Transfer, last: Transfer, intermediaries: number) => {
    if (leg.from !== last.to) facts.fundings.add(`${leg.from} ${last.to} ${last.time}`);
    if (intermediaries === 0) return;
    const passer = facts.agents.get(leg.from);
    if (passer !== undefined && before(passer, leg)) return;
    for (const earlier of legs) {
      if (earlier.to === leg.from && before(earlier, leg)) walk(earlier, last, intermediaries - 1);
    }
  };
  for (const last of legs) {
    if (facts.agents.has(last.to)) walk(last, last, facts.params.maxIntermediaries);
  }
}

function isFunding(facts: Facts, it: Transfer): boolean {
  const { minFundingAtomic, fundingShare } = facts.params;
  return (
    it.plainFrom !== null &&
    it.plainFrom <= facts.now &&
    (it.decided || !it.claimed) &&
    it.value >= BigInt(minFundingAtomic) &&
    it.value * BigInt(fundingShare.denominator) >= it.receivedSoFar * BigInt(fundingShare.numerator)
  );
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
  const groups = [...ownershipGroups(facts), ...components(facts.stars)];
  return Math.max(1, ...groups.filter((it) => it.has(a) && it.has(b)).map((it) => it.size));
}
