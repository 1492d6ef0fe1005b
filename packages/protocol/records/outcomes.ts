import * as z from "zod";
import { addressSchema } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";

/** The most agents of one record. */
export const MAX_OUTCOME_AGENTS = 256;
/** The most records of one hour's report. */
const MAX_PARTS = 1_024;

/** The most settled and the most rejected proposals that count for an agent in an hour. Others are left out. */
export const MAX_OUTCOMES = 10_000;

/** Complexity is counted in thousandths, divergence in millionths. */
export const COMPLEXITY_UNITS = 1_000;
export const DIVERGENCE_UNITS = 1_000_000;

const upTo = (most: number) => z.int().min(0, "must not be negative").max(most, `must be at most ${most}`);

const outcomeSchema = z
  .strictObject({
    /** How many of the agent's proposals were settled, and how many were rejected for their content. */
    ok: upTo(MAX_OUTCOMES),
    fail: upTo(MAX_OUTCOMES),
    /** The complexity of these tasks, summed, in thousandths. */
    c: z.strictObject({
      ok: upTo(MAX_OUTCOMES * COMPLEXITY_UNITS),
      fail: upTo(MAX_OUTCOMES * COMPLEXITY_UNITS),
    }),
    /** How many of them were compared with a shadow, and the sum of the divergences, in millionths. */
    divergence: z.strictObject({
      compared: upTo(2 * MAX_OUTCOMES),
      sum: upTo(2 * MAX_OUTCOMES * DIVERGENCE_UNITS),
    }),
  })
  .superRefine(({ ok, fail, c, divergence }, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    if (ok + fail === 0) refuse(["ok"], "must not be 0 when fail is");
    if (c.ok > ok * COMPLEXITY_UNITS)
      refuse(["c", "ok"], `must be at most ${COMPLEXITY_UNITS} for each task`);
    if (c.fail > fail * COMPLEXITY_UNITS)
      refuse(["c", "fail"], `must be at most ${COMPLEXITY_UNITS} for each task`);
    if (divergence.compared > ok + fail)
      refuse(["divergence", "compared"], "must not be more than ok and fail together");
    if (divergence.sum > divergence.compared * DIVERGENCE_UNITS)
      refuse(["divergence", "sum"], `must be at most ${DIVERGENCE_UNITS} for each comparison`);
  });

/** The results of an agent's proposals in an hour. */
export type Outcome = z.infer<typeof outcomeSchema>;

/**
 * The body of an `outcomes`: the results of agents' proposals in an hour, as the operator that the params name reports
 * them (swarm.at §13). The ledger shows rejected work only here, because a rejected proposal has no entry. `hour` is
 * unix seconds / 3600. Agents that do not fit into one record are in further parts.
 */
const outcomesFields = {
  hour: z.int().min(0).max(10_000_000, "must be the number of an hour: unix seconds / 3600"),
  part: z
    .int()
    .min(0)
    .max(MAX_PARTS - 1, `must be less than ${MAX_PARTS}`),
  agents: z
    .record(addressSchema, outcomeSchema)
    .refine((all) => Object.keys(all).length > 0, "must have at least one agent")
    .refine(
      (all) => Object.keys(all).length <= MAX_OUTCOME_AGENTS,
      `must have at most ${MAX_OUTCOME_AGENTS} agents`,
    ),
};

const read = boundForm(outcomesFields);

export type Outcomes = ReturnType<typeof read>;

/**
 * Reads the body of an hour's outcomes.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseOutcomes(body: RecordBody): Outcomes {
  return read(body);
}
