import type { ApplyContext } from "../applyContext.ts";
import { establishedChanged, flowChanged } from "./buyerFamilies.ts";
import { settleFamilies } from "./established.ts";
import { eachChangedFlow } from "./flows.ts";

/**
 * Computes, at a tick, each pair and each family that changed since the last tick. Each is computed once,
 * even if it changed often.
 */
export function tickFamilies(context: ApplyContext): void {
  eachChangedFlow(context, (account, family) => flowChanged(context, account, family));
  settleFamilies(context, (family) => establishedChanged(context, family));
}
