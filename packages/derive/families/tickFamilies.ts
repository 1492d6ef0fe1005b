import type { ApplyContext } from "../applyContext.ts";
import { settleFamilies } from "./established.ts";
import { eachChangedFlow } from "./flows.ts";
import { establishedChanged, flowChanged } from "./patrons.ts";

/**
 * Computes, at a tick, each pair and each family that changed since the last tick. Each is computed once,
 * even if it changed often.
 */
export async function tickFamilies(context: ApplyContext): Promise<void> {
  await eachChangedFlow(context, (account, family) => flowChanged(context, account, family));
  await settleFamilies(context, (family) => establishedChanged(context, family));
}
