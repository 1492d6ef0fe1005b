import type { DeriveEvent } from "tallystick-derive/events";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Snapshot } from "tallystick-derive/snapshot";
import { agentSnapshot, rootsOf } from "./agentSnapshot.ts";

/** What a log gives for an agent, at a tick and after it. */
export type AgentWatch = {
  /** Call it after each event of the log. */
  look: (event: DeriveEvent, store: MemoryStore) => void;
  /** The last tick of the log; 0 before the first. */
  readonly lastTick: number;
  /** The state at the tick; undefined if the log has no such tick. */
  readonly atTick: Snapshot | undefined;
  /** The states after each later change of the agent, up to the next tick. */
  readonly later: readonly Snapshot[];
  /** Whether the log has gone past the tick's block, and whether it has the next tick. */
  readonly isPast: boolean;
  readonly isWhole: boolean;
};

/**
 * Follows an agent while a log is derived. A node names the last tick of its answers, but hires and records change figures
 * between two ticks too. So figures that came with a tick are right if the log gives them at this tick, or before the next
 * one.
 *
 * @param block of the tick
 * @param isFound whether later states are not needed any more
 */
export function watchAgent(
  address: string,
  block: number,
  isFound: (states: readonly Snapshot[]) => boolean,
): AgentWatch {
  const later: Snapshot[] = [];
  let [lastTick, isPast, isWhole] = [0, false, false];
  let atTick: Snapshot | undefined;
  let rows: readonly unknown[] = [];
  return {
    look: (event, store) => {
      const isTick = event.kind === "tick";
      if (isTick) lastTick = event.block;
      if (event.block < block || isWhole) return;
      isPast ||= event.block > block;
      if (atTick === undefined) {
        if (isTick && !isPast) [atTick, rows] = [agentSnapshot(store, address), rowsOf(store, address)];
        return;
      }
      isWhole = isTick;
      const now = rowsOf(store, address);
      const isSame = now.length === rows.length && now.every((row, n) => row === rows[n]);
      rows = now;
      if ((isTick || !isSame) && !isFound([atTick, ...later])) later.push(agentSnapshot(store, address));
    },
    get lastTick() {
      return lastTick;
    },
    get atTick() {
      return atTick;
    },
    later,
    get isPast() {
      return isPast;
    },
    get isWhole() {
      return isWhole;
    },
  };
}

/** The rows from which an agent's figures and its cluster follow. The store replaces a row when it changes. */
function rowsOf(store: MemoryStore, address: string): readonly unknown[] {
  const agent = store.rows("agent").get(address);
  return agent === undefined ? [] : [agent, ...rootsOf(store, agent)];
}
