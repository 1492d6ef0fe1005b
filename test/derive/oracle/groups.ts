import type { Facts, Group } from "./facts.ts";

/** Merges sets that have a common member, until no two sets have one. */
export function components(sets: Iterable<Set<string>>): Set<string>[] {
  const merged: Set<string>[] = [];
  for (const set of sets) {
    const touching = merged.filter((it) => [...it].some((member) => set.has(member)));
    for (const it of touching) merged.splice(merged.indexOf(it), 1);
    merged.push(new Set([...touching, set].flatMap((it) => [...it])));
  }
  return merged;
}

/**
 * Clusters of shared ownership, from all groups of funded agents. If the funder of a `funding_origin` group is an agent,
 * the funder is a member too.
 */
export function ownershipGroups(facts: Facts): Set<string>[] {
  return components(fundedGroups(facts).map((it) => it.members));
}

/** Clusters of similar listings. */
export function fingerprintGroups(facts: Facts): Set<string>[] {
  return components(facts.groups.filter((it) => it.funder === null).map((it) => it.members));
}

/** The signals that an agent tripped, in alphabetical order. */
export function signalsOf(facts: Facts, address: string): string[] {
  const groups = [...fundedGroups(facts), ...facts.groups.filter((it) => it.funder === null)];
  const tripped = groups.filter(({ members }) => members.has(address));
  return [...new Set(tripped.map((it) => it.signal))].sort();
}

/** The size of the largest cluster that has both agents, or 1 if there is none. */
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
