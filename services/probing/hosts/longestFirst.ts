import type { Address } from "tallystick-protocol/address";
import type { DrawnMoments } from "../schedule/drawnMoments.ts";
import type { HostMemory } from "./hostMemory.ts";

/**
 * Agents of a host in the order in which the host was last asked for them, those that were never asked first. Among equal
 * agents the prober's key decides, anew on each day.
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
