import { costOf, type Prices, tierOf } from "../models/modelTable.ts";
import { readDollars } from "../models/money.ts";
import type { CallRecord } from "../tasks/callRecord.ts";
import { readPrices } from "../tasks/recordedPrices.ts";
import type { TaskMetadata } from "../tasks/taskMetadata.ts";
import {
  COMPLEXITY_POINTS,
  COMPLEXITY_VERSION,
  type ComplexityFeatures,
  complexityOf,
} from "../triage/complexity.ts";

/**
 * The parts of an entry's record that do not follow from its other parts. Costs follow from tokens and prices, the
 * complexity from its features, the tier from the complexity, and an answer from a call. Empty when everything
 * follows.
 */
export function entryFaults(told: TaskMetadata): string[] {
  const faults: string[] = [];
  for (const call of told.calls) {
    const fault = callFault(call, told);
    if (fault !== undefined) faults.push(`${call.id}: ${fault}`);
  }
  const { complexity, tier, escalations } = told;
  if (complexity.version === COMPLEXITY_VERSION) {
    const isWhole = Object.keys(COMPLEXITY_POINTS).every((name) => complexity.features[name] !== undefined);
    if (!isWhole) faults.push("complexity: features are missing");
    else if (complexityOf(complexity.features as ComplexityFeatures) !== complexity.value)
      faults.push("complexity: it does not follow from the features");
  }
  const first = escalations[0]?.from ?? tier;
  if (first !== null && complexity.version !== "none") {
    if (first !== tierOf(complexity.classifier?.value ?? complexity.value))
      faults.push("tier: it does not follow from the complexity");
  }
  if (told.closing === undefined) {
    if (!told.calls.some(({ role, ended }) => role === "execute" && ended === "answered"))
      faults.push("calls: none gave the answer");
    if (
      told.shadow !== null &&
      !told.calls.some(({ role, ended }) => role === "shadow" && ended === "answered")
    )
      faults.push("shadow: no call gave its answer");
  }
  return faults;
}

function callFault(call: CallRecord, told: TaskMetadata): string | undefined {
  const { tokens, cost_usd, cost_from } = call;
  if (tokens === null)
    return cost_from === "tokens" ? "its cost is from tokens, but it has no tokens" : undefined;
  // The prices in force when the call was booked. The entry's own may be newer.
  const prices = call.prices === undefined ? pricesOf(told, call.model) : readPrices(call.prices);
  if (prices === undefined) return "its prices are missing";
  const { input, cached_input: cachedInput, output, reasoning } = tokens;
  if (cachedInput > input || reasoning > output) return "a part of its tokens is more than the whole";
  const cost = costOf({ input, cachedInput, output, reasoning }, prices);
  return cost === readDollars(cost_usd) ? undefined : "its cost does not follow from its tokens and prices";
}

/**
 * The prices of a model's tokens in an entry's own table. Undefined if the table does not have the model, or if a
 * price is not a whole number of picodollars.
 */
export function pricesOf(told: TaskMetadata, model: string): Prices | undefined {
  const given = Object.hasOwn(told.prices.models, model) ? told.prices.models[model] : undefined;
  return given && readPrices(given);
}
