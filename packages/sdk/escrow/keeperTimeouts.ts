import type { Hire } from "tallystick-protocol/escrow/hire";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { GAS_EACH } from "./batch.ts";
import { type EscrowCalls, encodeEscrowCall } from "./escrowCalls.ts";
import { chunksOf, type KeeperBatches } from "./keeperBatches.ts";
import { SURE_MS } from "./keeperInstructions.ts";
import { AT_ONCE, createTurns, readEach } from "./keeperTurns.ts";
import { createWatchedDeposits, type Watched, type WatchedDeposits } from "./watchedDeposits.ts";

export type TimeoutsParameters = {
  calls: EscrowCalls;
  store: KeyValueStore;
  batches: KeeperBatches;
  startBlock: bigint;
  maxBatch: number;
  /** Smaller deposits are left to others. Atomic units. */
  minAmount: bigint;
  /** The ids of the escrows whose release this keeper has taken and not carried out yet. */
  releasing: () => Promise<ReadonlySet<string>>;
  /** Milliseconds since 1970. */
  now: () => number;
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
 * How long after a deadline this keeper carries out a release that it has taken, before it sends the money back, in
 * seconds. The seller has delivered, and the buyer has signed in time.
 */
const RELEASE_SECONDS = 600n;

/** A deposit that something is done about in this round. */
type Due = { key: string; hire: Hire };

/**
 * Sends back the money that nobody released in time. It follows the deposits of an escrow, and refunds those that are
 * still held after their deadline, many in one transaction (SHP §7.3.3).
 */
export function createTimeouts(parameters: TimeoutsParameters) {
  const { calls, batches, maxBatch, releasing, now, log } = parameters;
  const watch = createWatchedDeposits(parameters);
  const follow = createFollower(parameters, watch);
  /** The late hires that the RPC does not know, and when it is asked about them again, in unix seconds. */
  const unknown = new Map<string, { looks: number; notBefore: bigint }>();
  const [workLate, workSettled] = [createTurns<Due>(), createTurns<Due>()];

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

  /** The due deposits that are still held. The others are settled, or unknown to the RPC and looked at later. */
  async function heldOf(due: readonly Due[], time: bigint, faults: unknown[]): Promise<Due[]> {
    const held: Due[] = [];
    for (const [it, { status }] of await readEach(due, ({ hire }) => calls.state(hire), faults)) {
      const { key } = it;
      if (status === "none") await lookLater(key, time);
      else {
        unknown.delete(key);
        if (status !== "held") await watch.seeSettled(key);
        else {
          await watch.seeHeld(key);
          held.push(it);
        }
      }
    }
    return held;
  }

  /** Sends a batch of timeouts. */
  async function send(late: readonly Due[], done: (count: number) => void): Promise<void> {
    const items = late.map(({ key, hire }) => ({ key, call: encodeEscrowCall("timeoutRefund", [hire]) }));
    const { tried, failed } = await batches.send(items, GAS_EACH);
    const failures = new Map(failed.map(({ index, error }) => [index, error]));
    for (const [at, { key }] of late.entries()) {
      if (at >= tried) continue;
      // A failed refund is checked again, because the escrow may be settled in another way.
      if (failures.has(at)) {
        log("A timeout failed.", { key, reason: failures.get(at) });
        continue;
      }
      await watch.seeSettled(key);
      done(1);
    }
  }

  return {
    round: async (signal: AbortSignal, done: (count: number) => void): Promise<void> => {
      await batches.open();
      const watched = await watch.all();
      const { time, number } = await calls.head();
      const faults: unknown[] = [];
      const addFault = (error: unknown): unknown => faults.push(error);
      // Known deposits go back even if the RPC does not list new deposits.
      await follow(number, signal).catch(addFault);
      const dueOf = (isWanted: (it: Watched) => boolean): Due[] =>
        [...watched]
          .filter(([, it]) => isWanted(it))
          .map(([key, { hire }]) => ({ key, hire }))
          .filter(({ key }) => (unknown.get(key)?.notBefore ?? 0n) <= time && !batches.isOnItsWay(key));
      const released = await releasing();
      const isReleased = (hire: Hire): boolean =>
        time < hire.deadline + RELEASE_SECONDS && released.has(calls.idOf(hire));
      const late = dueOf(
        ({ hire, settledAt }) => settledAt === undefined && hire.deadline <= time && !isReleased(hire),
      );
      await workLate(late, {
        ...{ signal, most: maxBatch, look: (due) => heldOf(due, time, faults) },
        send: (held) => send(held, done).catch(addFault).then(),
      }).catch(addFault);
      const settled = dueOf(({ settledAt = Number.POSITIVE_INFINITY }) => settledAt + SURE_MS <= now());
      await workSettled(settled, {
        ...{ signal, most: maxBatch, look: (due) => heldOf(due, time, faults) },
        // What a reorganisation undid is due again in the next round.
        send: async () => {},
      }).catch(addFault);
      if (faults.length > 0) throw faults[0];
    },
  };
}

/** Finds the deposits of an escrow, and has them watched. */
function createFollower({ calls, store, startBlock, minAmount }: TimeoutsParameters, watch: WatchedDeposits) {
  /** The last heads, the newest last. */
  const heads: bigint[] = [];
  let blockRange = BLOCK_RANGE;

  async function follow(head: bigint, signal: AbortSignal): Promise<void> {
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
      const worthy = deposits.filter((it) => it.amount >= minAmount && it.deadline <= LAST_DEADLINE);
      if (!(await add(worthy, signal))) return;
      from = to + 1n;
      const next = from > sure ? sure : from;
      if (next > reached) await store.put("cursor/deposits", String(next));
    }
  }

  /** Returns false if the round ended before all deposits were added. The next round reads their blocks again. */
  async function add(deposits: readonly Hire[], signal: AbortSignal): Promise<boolean> {
    const fresh = deposits.filter((hire) => !watch.isKnown(hire));
    for (const chunk of chunksOf(fresh, AT_ONCE)) {
      if (signal.aborted) return false;
      const states = await Promise.all(chunk.map((hire) => calls.state(hire)));
      const added = chunk.map((hire, at) => {
        // Another node of the RPC may have given the event. The node that answers now may not have this block yet,
        // so an unknown escrow is watched too. A settled one is watched until this is certain.
        const isOpen = ["held", "none"].includes(states[at]?.status ?? "none");
        return watch.add(hire, !isOpen);
      });
      await Promise.all(added);
    }
    return true;
  }

  return follow;
}
