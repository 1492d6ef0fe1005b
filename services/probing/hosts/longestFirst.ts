import type { Address } from "tallystick-protocol/address";
import type { DrawnMoments } from "../schedule/drawnMoments.ts";
import type { HostMemory } from "./hostMemory.ts";

/**
 * Agents of a host, beginning with the agents that the host was never asked for. Then come the others, beginning with
 * the agent whose last question is oldest. Among equal agents the prober's key decides, in a new way each day.
 */
export function longestFirst(
  agents: readonly Address[],
  key: string,
  { memory, moments, day }: { memory: HostMemory; moments: DrawnMoments; day: number },
): Address[] {
  const ranked = agents.map((agent) => ({
    agent,
    last: memory.askedOn(key, agent) ?? -1,
    drawn: moments.orderOf(day, `${key} ${agent}`),
  }));
  return ranked.sort((a, b) => a.last - b.last || a.drawn - b.drawn).map(({ agent }) => agent);
}
