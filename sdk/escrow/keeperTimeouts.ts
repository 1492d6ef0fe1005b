import type { Hire } from "../../protocol/escrow/hire.ts";
import { type HireJson, readHireJson, toHireJson } from "../../protocol/escrow/hireJson.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { type EscrowCalls, encodeEscrowCall } from "./escrowCalls.ts";

export type TimeoutsParameters = {
  calls: EscrowCalls;
  store: KeyValueStore;
  startBlock?: bigint;
  maxBatch: number;
  /** Blocks asked for at once. Default 2,000. */
  blockRange?: bigint;
};

/** Blocks that are read again in every round, since a reorganisation may have changed them. */
const REORG_BLOCKS = 30n;

/**
 * Sends back what nobody spoke of in time: follows the deposits of an escrow, and refunds those whose deadline has passed
 * while they are held, many in one transaction (SHP §7.3.3).
 */
export function createTimeouts(parameters: TimeoutsParameters): { round: () => Promise<number> } {
  const { calls, store, startBlock = 0n, maxBatch, blockRange = 2_000n } = parameters;
  /** The hires that are watched, by escrow id; filled from the store before the first round. */
  let watched: Map<string, Hire> | undefined;

  async function load(): Promise<Map<string, Hire>> {
    const hires = new Map<string, Hire>();
    for (const key of await store.keys("watch")) {
      const json = await store.get<HireJson>(key);
      if (json) hires.set(key, readHireJson(json));
    }
    return hires;
  }

  async function follow(hires: Map<string, Hire>, head: bigint): Promise<void> {
    const cursor = await store.get<string>("cursor/deposits");
    let from = cursor === undefined ? startBlock : BigInt(cursor);
    for (; from <= head; from += blockRange) {
      const to = from + blockRange - 1n < head ? from + blockRange - 1n : head;
      for (const hire of await calls.deposits(from, to)) {
        const key = `watch/${calls.idOf(hire)}`;
        if (hires.has(key) || (await calls.state(hire)).status !== "held") continue;
        await store.put(key, toHireJson(hire));
        hires.set(key, hire);
      }
    }
    const next = head > REORG_BLOCKS ? head - REORG_BLOCKS : 0n;
    await store.put("cursor/deposits", String(next > startBlock ? next : startBlock));
  }

  return {
    round: async () => {
      watched ??= await load();
      const { time, number } = await calls.head();
      await follow(watched, number);
      const late = [...watched].filter(([, hire]) => hire.deadline <= time);
      let timedOut = 0;
      const held: [string, Hire][] = [];
      for (const [key, hire] of late) {
        if ((await calls.state(hire)).status === "held") held.push([key, hire]);
        else await forget(key);
      }
      for (let at = 0; at < held.length; at += maxBatch) {
        const batch = held.slice(at, at + maxBatch);
        await calls.batch(batch.map(([, hire]) => encodeEscrowCall("timeoutRefund", [hire])));
        for (const [key, hire] of batch) {
          if ((await calls.state(hire)).status === "held") continue;
          timedOut++;
          await forget(key);
        }
      }
      return timedOut;
    },
  };

  async function forget(key: string): Promise<void> {
    watched?.delete(key);
    await store.delete(key);
  }
}
