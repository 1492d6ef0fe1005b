import type { PyJson } from "tallystick-protocol/json/pythonJson";
import {
  COMPLEXITY_UNITS,
  DIVERGENCE_UNITS,
  MAX_OUTCOMES,
  type Outcome,
} from "tallystick-protocol/records/outcomes";

/** The outcomes of agents' proposals in an hour, by agent. */
export type Tally = Map<string, Outcome>;

/** One proposal: its agent, whether it was settled, its complexity in thousandths, and its divergence. */
export type Work = { agent: string; isSettled: boolean; complexity: number; divergence?: number };

/**
 * The complexity of a task, in thousandths. The proposal gives it in `agent_metadata.complexity`, as a number
 * from 0 to 1 or as an object with this number as `value`. A dispatcher gives it in
 * `agent_metadata.dispatch.complexity`. Without it, settled work counts as complexity 0 and rejected work as
 * complexity 1. So an agent gains nothing by leaving it out.
 */
export function complexityOf(agentMetadata: PyJson | undefined, isSettled: boolean): number {
  const said = field(agentMetadata, "complexity") ?? field(field(agentMetadata, "dispatch"), "complexity");
  const value = field(said, "value") ?? said;
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || !(number >= 0 && number <= 1)) return isSettled ? 0 : COMPLEXITY_UNITS;
  return Math.round(number * COMPLEXITY_UNITS);
}

function field(value: PyJson | undefined, name: string): PyJson | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Adds a proposal to the hour. Proposals beyond an agent's limit for an hour are left out. */
export function addWork(tally: Tally, { agent, isSettled, complexity, divergence }: Work): void {
  const known = tally.get(agent) ?? {
    ok: 0,
    fail: 0,
    c: { ok: 0, fail: 0 },
    divergence: { compared: 0, sum: 0 },
  };
  tally.set(agent, known);
  const kind = isSettled ? "ok" : "fail";
  if (known[kind] === MAX_OUTCOMES) return;
  known[kind]++;
  known.c[kind] += complexity;
  if (divergence === undefined) return;
  known.divergence.compared++;
  known.divergence.sum += Math.round(Math.min(1, Math.max(0, divergence)) * DIVERGENCE_UNITS);
}
