import type { Facts, Group } from "./facts.ts";

/** Merges sets with a common member, until there are none. */
export function components(sets: Iterable<Set<string>>): Set<string>[] {
  const merged: Set<string>[] = [];
  for (const set of sets) {
    const touching = merged.filter((it) => [...it].some((member) => set.has(member)));
    for (const it of touching) merged.splice(merged.indexOf(it), 1);
    merged.push(new Set([...touching, set].flatMap((it) => [...it])));
  }
  return merged;
}

/** Shared ownership: the clusters of all groups from fundings, each with its funder if the funder is an agent. */
export function ownershipGroups(facts: Facts): Set<string>[] {
  return components(fundedGroups(facts).map((it) => it.members));
}

/** Clusters of similar listings. */
export function fingerprintGroups(facts: Facts): Set<string>[] {
  return components(facts.groups.filter((it) => it.funder === null).map((it) => it.members));
}

/** The signals that an agent tripped, in order. */
export function signalsOf(facts: Facts, address: string): string[] {
  const groups = [...fundedGroups(facts), ...facts.groups.filter((it) => it.funder === null)];
  const tripped = groups.filter(({ members }) => members.has(address));
  return [...new Set(tripped.map((it) => it.signal))].sort();
}

/** The size of the common group of two agents, the larger of the two kinds, else 1. */
export function sharedSize(facts: Facts, a: string, b: string): number {
  const groups = [...ownershipGroups(facts), ...fingerprintGroups(facts)];
  return Math.max(1, ...groups.filter((it) => it.has(a) && it.has(b)).map((it) => it.size));
}

function fundedGroups(facts: Facts): Group[] {
  return facts.groups.flatMap(({ funder, signal, members }) => {
    if (funder === null) return [];
    const joins = signal === "funding_origin" && facts.agents.has(funder);
    return [{ funder, signal, members: joins ? new Set([...members, funder]) : members }];
  });
}
