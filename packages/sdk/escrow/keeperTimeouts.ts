import type { Hire } from "tallystick-protocol/escrow/hire";
import { type HireJson, readHireJson, toHireJson } from "tallystick-protocol/escrow/hireJson";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { GAS_EACH } from "./batch.ts";
import { type EscrowCalls, encodeEscrowCall } from "./escrowCalls.ts";
import { chunksOf, type KeeperBatches } from "./keeperBatches.ts";

export type TimeoutsParameters = {
  calls: EscrowCalls;
  store: KeyValueStore;
  batches: KeeperBatches;
  startBlock: bigint;
  maxBatch: number;
  /** Smaller deposits are left to others. Atomic units. */
  minAmount: bigint;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/**
 * The number of blocks in one request. It is lowered after a refusal, because an RPC does not say how many it
 * accepts.
 */
const BLOCK_RANGE = 2_000n;

/** How often this number is lowered in a round. An RPC that does not answer at all fails with any number. */
const MAX_HALVINGS = 4;

/** Blocks that are read again in every round, since a reorganisation may have changed them. */
const REORG_BLOCKS = 30n;

/**
 * Several nodes may answer at the address of one RPC. The node that lists the deposits may be far behind the node
 * that gave the head. Then it leaves out the newest deposits, without an error. So a block is read again until
 * the last {@link HEADS} heads are all beyond it. While fewer heads are known, {@link UNSURE_BLOCKS} more blocks
 * are read again.
 */
const HEADS = 32;
const UNSURE_BLOCKS = 2_000n;

/** How many settled deposits are remembered. The chain is asked about all others in every round that lists them. */
const MAX_OVER = 50_000;

/** The most simultaneous requests to the chain. */
const AT_ONCE = 16;

/** A later deadline never comes, and cannot be written as JSON. */
const LAST_DEADLINE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * The keeper forgets a late escrow after it asked the RPC this many times, and the RPC never knew the escrow.
 * `LOOK_SECONDS` is the first wait between two questions, in seconds of the chain's clock. Each further wait is
 * twice as long. All waits together are 21 minutes.
 */
const MAX_LOOKS = 8;
const LOOK_SECONDS = 10n;

/**
 * Sends back the money that nobody released in time. It follows the deposits of an escrow, and refunds those that are
 * still held after their deadline, many in one transaction (SHP §7.3.3).
 */
export function createTimeouts(parameters: TimeoutsParameters) {
  const { calls, batches, maxBatch, log } = parameters;
  const watch = createWatch(parameters);
  /** The late hires that the RPC does not know, and when it is asked about them again, in unix seconds. */
  const unknown = new Map<string, { looks: number; notBefore: bigint }>();

  /**
   * Postpones a hire that the RPC does not know. Perhaps the RPC is late, or a reorganisation undid the deposit for
   * some time. If the hire were forgotten at once, its buyer's money might not come back.
   */
  async function lookLater(key: string, time: bigint): Promise<void> {
    const looks = (unknown.get(key)?.looks ?? 0) + 1;
    if (looks < MAX_LOOKS) {
      unknown.set(key, { looks, notBefore: time + LOOK_SECONDS * 2n ** BigInt(looks - 1) });
      return;
    }
    unknown.delete(key);
    log("A deposit is not there and is forgotten.", { key });
    await watch.forget(key);
  }

  /**
   * The late hires that are still held. The others are settled and forgotten, or unknown to the RPC and looked at
   * later.
   */
  async function heldOf(
    late: readonly [string, Hire][],
    time: bigint,
    signal: AbortSignal,
  ): Promise<[string, Hire][]> {
    const held: [string, Hire][] = [];
    for (const chunk of chunksOf(late, AT_ONCE)) {
      if (signal.aborted) break;
      const states = await Promise.all(chunk.map(([, hire]) => calls.state(hire)));
      for (const [at, entry] of chunk.entries()) {
        const status = states[at]?.status ?? "none";
        if (status === "none") await lookLater(entry[0], time);
        else {
          unknown.delete(entry[0]);
          if (status === "held") held.push(entry);
          else await watch.forget(entry[0]);
        }
      }
    }
    return held;
  }

  return {
    round: async (signal: AbortSignal, done: (count: number) => void): Promise<void> => {
      await batches.open();
      const hires = await watch.hires();
      const { time, number } = await calls.head();
      const faults: unknown[] = [];
      // Known deposits go back even if the RPC does not list new deposits.
      await watch.follow(hires, number, signal).catch((error: unknown) => faults.push(error));
      const isDue = (key: string): boolean =>
        (unknown.get(key)?.notBefore ?? 0n) <= time && !batches.isOnItsWay(key);
      const late = [...hires].filter(([key, { deadline }]) => deadline <= time && isDue(key));
      const held = await heldOf(late, time, signal);
      for (const chunk of chunksOf(held, maxBatch)) {
        if (signal.aborted) break;
        const items = chunk.map(([key, hire]) => ({ key, call: encodeEscrowCall("timeoutRefund", [hire]) }));
        try {
          const { tried, failed } = await batches.send(items, GAS_EACH);
          const failures = new Map(failed.map(({ index, error }) => [index, error]));
          for (const [at, [key]] of chunk.entries()) {
            if (at >= tried) continue;
            // A failed refund is checked again, because the escrow may be settled in another way.
            if (failures.has(at)) {
              log("A timeout failed.", { key, reason: failures.get(at) });
              continue;
            }
            await watch.forget(key);
            done(1);
          }
        } catch (error) {
          faults.push(error);
        }
      }
      if (faults.length > 0) throw faults[0];
    },
  };
}

/** The held hires that may run out of time: read from the deposits of an escrow, kept in the store. */
function createWatch({ calls, store, startBlock, minAmount, log }: TimeoutsParameters) {
  /** By their keys in the store; filled from there before the first round. */
  let watched: Map<string, Hire> | undefined;
  /** The last heads, the newest last. */
  const heads: bigint[] = [];
  /**
   * Settled deposits that are listed again and again, each with the head at the time when it was first seen settled.
   */
  const over = new Map<string, bigint>();
  let blockRange = BLOCK_RANGE;

  async function load(): Promise<Map<string, Hire>> {
    const hires = new Map<string, Hire>();
    for (const key of await store.keys("watch")) {
      try {
        const json = await store.get<HireJson>(key);
        if (json) hires.set(key, readHireJson(json));
      } catch (error) {
        // One file that cannot be read must not stop the others.
        log("A deposit cannot be read and is left where it is.", { key, error: String(error) });
      }
    }
    return hires;
  }

  async function follow(hires: Map<string, Hire>, head: bigint, signal: AbortSignal): Promise<void> {
    if (over.size > MAX_OVER) over.clear();
    heads.push(head);
    if (heads.length > HEADS) heads.shift();
    const lowest = heads.reduce((low, it) => (it < low ? it : low));
    const sure = lowest - REORG_BLOCKS - (heads.length < HEADS ? UNSURE_BLOCKS : 0n);
    const cursor = await store.get<string>("cursor/deposits");
    let from = cursor === undefined ? startBlock : BigInt(cursor);
    const reached = from;
    blockRange = blockRange * 2n < BLOCK_RANGE ? blockRange * 2n : BLOCK_RANGE;
    for (let halvings = 0; from <= head && !signal.aborted; ) {
      const to = from + blockRange - 1n < head ? from + blockRange - 1n : head;
      let deposits: Hire[];
      try {
        deposits = await calls.deposits(from, to);
      } catch (error) {
        if (blockRange === 1n || ++halvings > MAX_HALVINGS) throw error;
        blockRange /= 2n;
        continue;
      }
      await watch(
        hires,
        head,
        deposits.filter(({ amount, deadline }) => amount >= minAmount && deadline <= LAST_DEADLINE),
      );
      from = to + 1n;
      const next = from > sure ? sure : from;
      if (next > reached) await store.put("cursor/deposits", String(next));
    }
  }

  async function watch(hires: Map<string, Hire>, head: bigint, deposits: readonly Hire[]): Promise<void> {
    const isOver = (key: string): boolean => head - (over.get(key) ?? head) > REORG_BLOCKS;
    const fresh = deposits.filter((hire) => !hires.has(keyOf(hire)) && !isOver(keyOf(hire)));
    for (const chunk of chunksOf(fresh, AT_ONCE)) {
      const states = await Promise.all(chunk.map((hire) => calls.state(hire)));
      for (const [at, hire] of chunk.entries()) {
        // Another node of the RPC may have given the event. The node that answers now may not have this block yet,
        // so an unknown escrow is watched too.
        if (!["held", "none"].includes(states[at]?.status ?? "none")) {
          if (!over.has(keyOf(hire))) over.set(keyOf(hire), head);
          continue;
        }
        await store.put(keyOf(hire), toHireJson(hire));
        hires.set(keyOf(hire), hire);
      }
    }
  }

  const keyOf = (hire: Hire): string => `watch/${calls.idOf(hire)}`;

  async function forget(key: string): Promise<void> {
    watched?.delete(key);
    await store.delete(key);
  }

  return { hires: async () => (watched ??= await load()), follow, forget };
}
