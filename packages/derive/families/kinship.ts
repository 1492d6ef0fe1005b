import type { ApplyContext } from "../applyContext.ts";
import { actedBefore, familyOf } from "./familyOf.ts";

/**
 * A wallet's family at this place. Null if the wallet has not acted, because its largest inflow can still
 * change.
 */
export function knownFamily(context: ApplyContext, wallet: string): string | null {
  const known = context.store.get("kin", wallet);
  if (known !== null) return known.family;
  // An act at this same place counts too. A tick comes after all logs of its block.
  const log = context.at.log === null ? Number.MAX_SAFE_INTEGER : context.at.log + 1;
  const act = actedBefore(context, wallet, { block: context.at.block, log });
  return act === null ? null : familyOf(context, wallet, act).family;
}

/**
 * Whether two wallets belong to the same family. All wallets in `deep`, whose founder is unknown, count as
 * one family.
 */
export function areKin(context: ApplyContext, a: string, b: string): boolean {
  const family = knownFamily(context, a);
  return family !== null && family === knownFamily(context, b);
}

/** The families of some agents, as they are published with an assignment. */
export function familiesOf(context: ApplyContext, agents: readonly string[]): { [agent: string]: string } {
  const families: { [agent: string]: string } = {};
  for (const agent of agents) {
    const family = knownFamily(context, agent);
    if (family !== null) families[agent] = family;
  }
  return families;
}
