import type { Row } from "tallystick-derive/tables";
import { formatDecimal } from "tallystick-protocol/records/decimalSchema";

/** A step of a breach, with the terms of the breach. None of these fields changes later. */
export function stepJson(step: Row<"breachStep">, breach: Row<"breach">) {
  return {
    agent: step.agent,
    breach: step.breach,
    step: step.step,
    record: step.record,
    block: step.block,
    time: step.time,
    metric: breach.metric,
    window_days: breach.days,
    target: formatDecimal(breach.target),
    breach_threshold: formatDecimal(breach.threshold),
    value: formatDecimal(breach.value),
    penalty: JSON.parse(breach.penalty) as { type: string },
  };
}
