import { clusterOf, joinCluster } from "../clusters.ts";
import { append, itemsOf, lastItem } from "../lists.ts";
import type { Step } from "../step.ts";
import { addFunding, type Funding, fundingsAfter, fundingsBefore } from "./timeIndex.ts";

/**
 * Notes that `funder` funded `agent` at `time`, and trips the signal if some span of `fundingSpanSeconds` (inclusive) now
 * holds fundings of the agent and `clusterOthers` others (SHP §4.5.1).
 */
export async function recordFunding(step: Step, funder: string, agent: string, time: number): Promise<void> {
  if (!(await addFunding(step.store, funder, time, agent))) return;
  for (const span of await trippedSpans(step, funder, agent, time)) {
    await trip(step, funder, [agent, ...span]);
  }
}

/**
 * The other agents of each span around `time` that just trips. It is enough to look at the nearest few on either side: a
 * span that holds more others than that was tripped among them before, so they are in one cluster already.
 */
async function trippedSpans(step: Step, funder: string, agent: string, time: number): Promise<Set<string>[]> {
  const { clusterOthers: needed, fundingSpanSeconds: length } = step.params;
  const before = await nearest(fundingsBefore(step.store, funder, time, time - length), agent, needed);
  const after = await nearest(fundingsAfter(step.store, funder, time, time + length), agent, needed);
  const spans: Set<string>[] = [];
  for (let i = 0; i <= before.length; i++) {
    for (let j = 0; j <= after.length; j++) {
      const start = before[i - 1]?.time ?? time;
      const end = after[j - 1]?.time ?? time;
      const others = new Set([...before.slice(0, i), ...after.slice(0, j)].map((it) => it.agent));
      if (others.size >= needed && end - start <= length) {
        spans.push(others);
        break;
      }
    }
  }
  return spans;
}

/** The first `count` different agents other than `agent`. */
async function nearest(fundings: AsyncGenerator<Funding>, agent: string, count: number): Promise<Funding[]> {
  const found: Funding[] = [];
  for await (const funding of fundings) {
    if (funding.agent === agent || found.some((it) => it.agent === funding.agent)) continue;
    found.push(funding);
    if (found.length === count) break;
  }
  return found;
}

async function trip(step: Step, funder: string, members: string[]): Promise<void> {
  const funderIsAgent = (await step.store.get("agent", funder)) !== null;
  await joinCluster(step, funderIsAgent ? [...members, funder] : members, "funding_origin");
  if (!funderIsAgent) await rememberTrip(step, funder, members);
}

/** A funder that becomes an agent later joins those it tripped with; one member a cluster is enough to find them. */
async function rememberTrip(step: Step, funder: string, members: string[]): Promise<void> {
  const member = members[0];
  if (member === undefined) return;
  const last = await lastItem(step.store, tripsOf(funder));
  if (last !== null && (await clusterOf(step, last))?.id === (await clusterOf(step, member))?.id) return;
  await append(step.store, tripsOf(funder), member);
}

export async function joinAsFunder(step: Step, funder: string): Promise<void> {
  const members: string[] = [];
  for await (const member of itemsOf(step.store, tripsOf(funder))) members.push(member);
  if (members.length > 0) await joinCluster(step, [...members, funder], "funding_origin");
}

function tripsOf(funder: string): string {
  return `trips/${funder}`;
}
