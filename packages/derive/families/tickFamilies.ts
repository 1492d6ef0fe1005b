import type { Step } from "../step.ts";
import { settleFamilies } from "./established.ts";
import { eachChangedFlow } from "./flows.ts";
import { flowChanged, standingChanged } from "./patrons.ts";

/** At a tick, each pair and each family that changed since the last one is looked at once, however often it did. */
export async function tickFamilies(step: Step): Promise<void> {
  await eachChangedFlow(step, (account, family) => flowChanged(step, account, family));
  await settleFamilies(step, (family) => standingChanged(step, family));
}
