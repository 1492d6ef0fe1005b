import { addTrip } from "./clusters.ts";
import type { Facts, Listing } from "./facts.ts";

/** The tokens of an agent's live listings. */
export function tokensOf(facts: Facts, agent: string): Set<string> {
  return new Set(facts.listings.filter((it) => it.agent === agent && it.live).flatMap(tokens));
}

/**
 * Runs after an agent's tokens changed. Joins this agent with all agents that are similar to it, if they are enough.
 * Does the same for each of these similar agents. Compares all pairs.
 */
export function noteAlike(facts: Facts, changed: string): void {
  const own = tokensOf(facts, changed);
  const agents = [...new Set(facts.listings.filter((it) => it.live).map((it) => it.agent))];
  const sets = new Map(agents.map((agent) => [agent, tokensOf(facts, agent)]));
  const { tokenSets } = facts;
  // A set that no agent has any more is forgotten, with the similarity that was required when it appeared.
  const had = new Set([...sets.values()].map(keyOf));
  for (const key of tokenSets.keys()) if (!had.has(key)) tokenSets.delete(key);
  const n = Math.max(-1, ...[...tokenSets.values()].map((it) => it.n)) + 1;
  if (!tokenSets.has(keyOf(own)))
    tokenSets.set(keyOf(own), { n, similarity: facts.params.fingerprintSimilarity });
  const alike = (agent: string) => {
    const own = sets.get(agent) ?? new Set();
    return agents.filter((it) => it !== agent && cosineHolds(facts, own, sets.get(it) ?? new Set()));
  };
  if (!sets.has(changed)) return;
  const joined = new Set<string>();
  for (const agent of [changed, ...alike(changed)]) {
    const others = alike(agent);
    if (others.length < facts.params.clusterOthers) continue;
    const members = new Set([agent, ...others]);
    facts.groups.push({ signal: "listing_fingerprint", funder: null, members });
    for (const member of members) joined.add(member);
  }
  if (joined.size > 0) addTrip(facts, { signal: "listing_fingerprint", funder: null, members: joined });
}

const keyOf = (tokens: Set<string>) => [...tokens].sort().join("\n");

/** Uses the similarity that was required when the later of the two sets first appeared. */
function cosineHolds({ tokenSets }: Facts, a: Set<string>, b: Set<string>): boolean {
  if (keyOf(a) === keyOf(b)) return true;
  const [first, last] = [a, b]
    .map((it) => tokenSets.get(keyOf(it)))
    .sort((x, y) => (x?.n ?? 0) - (y?.n ?? 0));
  if (first === undefined || last === undefined) return false;
  const { numerator, denominator } = last.similarity;
  const shared = [...a].filter((it) => b.has(it)).length;
  return (denominator * shared) ** 2 >= numerator ** 2 * a.size * b.size;
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
