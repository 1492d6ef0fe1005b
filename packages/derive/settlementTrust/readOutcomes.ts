import { type Outcome, type Outcomes, parseOutcomes } from "tallystick-protocol/records/outcomes";
import type { ApplyContext } from "../applyContext.ts";
import type { Reading } from "../audits/reading.ts";
import { emptyRow } from "../emptyRow.ts";
import type { RecordEvent } from "../events.ts";
import { trustOf } from "./trustOf.ts";

const HOUR = 3_600;

/**
 * Reads the results of proposals in an hour. The record may be in any ledger, but its signer must be the operator that
 * the params name. If an hour has too many agents for one record, its report has several parts. Each part is one record
 * with other agents.
 */
export function readOutcomes(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseOutcomes(event.body);
  const { operator } = context.params;
  if (event.signer !== operator) return `signer ${event.signer} is not the operator`;
  if (context.at.time < (body.hour + 1) * HOUR) return "body.hour is not over";
  const id = `${event.ledger}/${body.hour}/${body.part}`;
  if (context.store.get("outcomesTold", id) !== null) return "this part of the hour was told before";
  return () => {
    context.store.insert("outcomesTold", { id });
    outcomesTold(context, body);
  };
}

function outcomesTold(context: ApplyContext, { hour, agents }: Outcomes): void {
  for (const [agent, told] of Object.entries(agents)) outcomeTold(context, agent, hour, told);
}

function outcomeTold(context: ApplyContext, id: string, hour: number, told: Outcome): void {
  const known = context.store.get("settlementTrust", id);
  const before = known ?? emptyRow("settlementTrust");
  const evidence = {
    settled: before.settled + told.ok,
    rejected: before.rejected + told.fail,
    settledComplexity: before.settledComplexity + told.c.ok,
    rejectedComplexity: before.rejectedComplexity + told.c.fail,
    compared: before.compared + told.divergence.compared,
    divergence: before.divergence + told.divergence.sum,
  };
  const change = {
    ...evidence,
    ...trustOf(evidence, known ?? undefined),
    lastHour: Math.max(before.lastHour, hour),
  };
  if (known === null) context.store.insert("settlementTrust", { id, ...change });
  else context.store.update("settlementTrust", id, change);
}
