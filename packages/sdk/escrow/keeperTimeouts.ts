import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { GAS_EACH } from "./batch.ts";
import { type EscrowCalls, type EscrowState, encodeEscrowCall } from "./escrowCalls.ts";
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
  /** The ids of the escrows whose release this keeper has taken, until the end of the escrow is certain. */
  releasing: () => Promise<ReadonlySet<string>>;
  /** Called when an escrow has ended for certain, or never was, before its deposit is forgotten. */
  onEnd: (id: Hex) => Promise<void>;
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

/** Blocks that are read again in every round, since a reorganization may have changed them. */
const REORG_BLOCKS = 30n;

/**
 * Several nodes may answer at the address of one RPC. The node that lists the deposits may be far behind the node
 * that gave the head. Then it leaves out the newest deposits, without an error. So a block is read again until
 * the last {@link HEADS} heads are all beyond it. While fewer heads are known, {@link UNSURE_BLOCKS} more blocks
 * are read again.
 */
const HEADS = 32;
const UNSURE_BLOCKS = 2_000n;

/**
 * A settlement that the chain shows this many blocks before the head is certain. These are two minutes of Base, as
 * {@link SURE_MS}. A node that has deleted old states still has the states of the last 128 blocks.
 */
const SURE_BLOCKS = 60n;

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

/**
 * How long timeouts wait for others after some were sent, in seconds. Anybody can make small deposits whose deadlines come
 * one after the other. Alone each timeout would cost this keeper three times as much gas as together with others.
 */
const COLLECT_SECONDS = 300n;

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
  const { heldOf, isPostponed } = createScreening(parameters, watch);
  const [workLate, workNew, workSettled] = [createTurns<Due>(), createTurns<Due>(), createTurns<Due>()];
  /**
   * Whether the next round begins with the known deposits. Reading a long history can take many rounds. Sending back
   * very many late deposits can take many rounds too. So the two take turns, and neither delays the other by more than
   * one round.
   */
  let isKnownFirst = true;
  /** When timeouts were last sent, by the chain's clock. */
  let sentAt: bigint | undefined;

  // Both parts of a round send at the same time of the chain, so the second part need not wait for the first one.
  const mayWait = (late: readonly Due[], time: bigint): boolean =>
    sentAt !== undefined &&
    sentAt < time &&
    time < sentAt + COLLECT_SECONDS &&
    late.length < maxBatch &&
    late.every(({ hire }) => time < hire.deadline + COLLECT_SECONDS);

  /** Sends a batch of timeouts. */
  async function send(late: readonly Due[], time: bigint, done: (count: number) => void): Promise<void> {
    const items = late.map(({ key, hire }) => ({ key, call: encodeEscrowCall("timeoutRefund", [hire]) }));
    const { tried, failed } = await batches.send(items, GAS_EACH);
    sentAt = time;
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
      const dueOf = (isWanted: (it: Watched, key: string) => boolean): Due[] =>
        [...watched]
          .filter(([key, it]) => isWanted(it, key))
          .map(([key, { hire }]) => ({ key, hire }))
          .filter(({ key }) => !isPostponed(key, time) && !batches.isOnItsWay(key));
      const turn = { signal, most: maxBatch, look: (due: readonly Due[]) => heldOf(due, time, faults) };
      const sendBack = async (work: typeof workLate, isWanted: (key: string) => boolean): Promise<void> => {
        const released = await releasing();
        const isReleased = (hire: Hire): boolean =>
          time < hire.deadline + RELEASE_SECONDS && released.has(calls.idOf(hire));
        const isLate = ({ hire, settledAt }: Watched): boolean =>
          settledAt === undefined && hire.deadline <= time && !isReleased(hire);
        const late = dueOf((it, key) => isWanted(key) && isLate(it));
        if (mayWait(late, time)) return;
        const sendHeld = (held: Due[]): Promise<void> => send(held, time, done).catch(addFault).then();
        await work(late, { ...turn, send: sendHeld }).catch(addFault);
      };
      const before = new Set(watched.keys());
      const workKnown = async (): Promise<void> => {
        await sendBack(workLate, (key) => before.has(key));
        const settled = dueOf(({ settledAt = Number.POSITIVE_INFINITY }) => settledAt + SURE_MS <= now());
        // What a reorganization undid is due again in the next round.
        await workSettled(settled, { ...turn, send: async () => {} }).catch(addFault);
      };
      const readNew = async (): Promise<void> => {
        // The known late deposits are sent back even if the RPC lists no more deposits.
        await follow(number, signal).catch(addFault);
        await sendBack(workNew, (key) => !before.has(key));
      };
      const parts = isKnownFirst ? [workKnown, readNew] : [readNew, workKnown];
      isKnownFirst = !isKnownFirst;
      for (const part of parts) await part();
      if (faults.length > 0) throw faults[0];
    },
  };
}

/** Finds, by the chain's state, the due deposits that are still held. */
function createScreening({ calls, log }: TimeoutsParameters, watch: WatchedDeposits) {
  /** The late hires that the RPC does not know, and when it is asked about them again, in unix seconds. */
  const unknown = new Map<string, { looks: number; notBefore: bigint }>();

  /**
   * Postpones a hire that the RPC does not know. Perhaps the RPC is late, or a reorganization undid the deposit for
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

  return {
    heldOf,
    isPostponed: (key: string, time: bigint): boolean => (unknown.get(key)?.notBefore ?? 0n) > time,
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
      if (!(await add(worthy, to + SURE_BLOCKS <= head ? head - SURE_BLOCKS : undefined, signal))) return;
      from = to + 1n;
      const next = from > sure ? sure : from;
      if (next > reached) await store.put("cursor/deposits", String(next));
    }
  }

  /**
   * Returns false if the round ended before all deposits were added. The next round reads their blocks again.
   *
   * @param sureBlock a block after these deposits; what it shows is certain
   */
  async function add(
    deposits: readonly Hire[],
    sureBlock: bigint | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const fresh = deposits.filter((hire) => !watch.isKnown(hire));
    for (const chunk of chunksOf(fresh, AT_ONCE)) {
      if (signal.aborted) return false;
      const ends = await Promise.all(chunk.map((hire) => endOf(hire, sureBlock)));
      await Promise.all(
        chunk.map(async (hire, at) => {
          const end = ends[at];
          if (end === "certain") await watch.leaveOut(hire);
          else await watch.add(hire, end === "seen");
        }),
      );
    }
    return true;
  }

  /**
   * Whether the end of an escrow is certain, was only seen, or is not there. Most deposits of a long history have a
   * certain end. If the RPC does not know the state at the older block, the end does not count as certain.
   */
  async function endOf(hire: Hire, sureBlock: bigint | undefined): Promise<"certain" | "seen" | "none"> {
    const sure = sureBlock && (await calls.state(hire, sureBlock).catch(() => undefined));
    if (sure && isSettled(sure)) return "certain";
    // One node of the RPC gave the event, and another node answers now. That node may not have the block yet, so an
    // unknown escrow is watched too. A settled escrow is watched until its end is certain.
    return isSettled(await calls.state(hire)) ? "seen" : "none";
  }

  return follow;
}

const isSettled = ({ status }: EscrowState): boolean => status !== "held" && status !== "none";
