import type { Facts, Place } from "./facts.ts";
import { noteRegistered } from "./fundings.ts";

/** Hubs and escrows never become agents. An agent stays an agent. */
function mayRegister(facts: Facts, address: string): boolean {
  return facts.agents.has(address) || !(facts.hubs.has(address) || facts.escrowContracts.has(address));
}

/** Makes an address an agent, if it is none yet. Returns false for hubs and escrows. */
export function register(facts: Facts, address: string, at: Place): boolean {
  if (facts.agents.has(address)) return true;
  if (!mayRegister(facts, address)) return false;
  const { block, time, log } = at;
  facts.agents.set(address, { index: facts.now, block, time, log, tier: 0, figures: null });
  noteRegistered(facts, address);
  return true;
}
