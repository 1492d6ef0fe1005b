import type { Params } from "tallystick-protocol/records/params";
import { dropTrips } from "./clusters.ts";
import { forgetTrips, noteTakenBack, noteWidened, rememberTrips } from "./funding/trips.ts";
import { undampen } from "./hires.ts";
import { isRelevant } from "./relevant/isRelevant.ts";
import { noteParams } from "./relevant/until.ts";
import { STATE_ID } from "./stateId.ts";
import type { Step } from "./step.ts";
import { markWallet, unmarkHub } from "./wallets.ts";

/**
 * New parameters hold from here on. What was fixed before stays, but a wallet that is published as a hub loses its trips, and hires
 * that weighed less only for them weigh 1.
 */
export async function paramsSettled(step: Step, params: Params): Promise<void> {
  if (isRelevant(step)) await noteParams(step);
  await step.store.update("state", STATE_ID, {
    params: JSON.stringify(params),
    paramsVersion: params.version,
  });
  await noteWidened(step, params);
  await markRoots(step, params);
  const [before, hubs] = [hubsOf(step.params), hubsOf(params)];
  for (const hub of before) {
    if (hubs.includes(hub)) continue;
    await unmarkHub(step, hub);
    await noteTakenBack(step, hub);
  }
  const apart = new Set<string>();
  for (const hub of hubs) {
    if (before.includes(hub)) continue;
    const { left, members } = await dropTrips(step, hub);
    for (const member of members) apart.add(member);
    await rememberTrips(step, left);
    await forgetTrips(step, hub);
  }
  await undampen(step, apart);
}

/** Notes which wallets the parameters name as hubs and escrows. */
export async function markRoots(step: Step, params: Params): Promise<void> {
  for (const hub of hubsOf(params)) await markWallet(step, hub, "hub");
  for (const escrow of Object.keys(params.escrows)) await markWallet(step, escrow, "escrow");
}

/** The published hubs, and the pools that auditors are paid from: what a pool pays funds nobody and buys nothing. */
function hubsOf({ hubs, audit }: Params): string[] {
  const pools = Object.values(audit.operators).map(({ pool }) => pool);
  return [...new Set<string>([...hubs, ...pools])];
}
