import type { Address } from "../../protocol/address.ts";
import { escrowId, type Hire } from "../../protocol/escrow/hire.ts";
import { type HireJson, readHireJson, toHireJson } from "../../protocol/escrow/hireJson.ts";
import type { Hex } from "../../protocol/hex.ts";
import { ChainError } from "../errors.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { type EscrowCalls, encodeEscrowCall } from "./escrowCalls.ts";
import { createTimeouts } from "./keeperTimeouts.ts";

export type KeeperParameters = {
  calls: EscrowCalls;
  /** Remembers instructions until they are carried out: `fileStore(folder)`. */
  store: KeyValueStore;
  /** The first block that may have a deposit. */
  startBlock?: bigint;
  /** Milliseconds between two rounds. Default 2,000. */
  roundMs?: number;
  /** Items in one transaction. Default 50: about 4 million gas. */
  maxBatch?: number;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** What a round did. */
export type KeeperRound = { released: number; refunded: number; timedOut: number; waiting: number };

export type Keeper = {
  /**
   * Takes a buyer's release: checked against the contract, written down, and carried out with the others of its round.
   *
   * @throws ChainError `call_refused`: the contract would not do it
   */
  release: (hire: Hire, signature: Hex) => Promise<void>;
  /** Takes a refund by buyer, seller or arbiter. */
  refund: (hire: Hire, signer: Address, signature: Hex) => Promise<void>;
  /** Carries out what is due now, and looks for deposits whose time is over. */
  round: () => Promise<KeeperRound>;
  /** Does a round every so often, until {@link Keeper.close}. */
  start: () => void;
  close: () => Promise<void>;
};

type Instruction = { hire: HireJson; signature: Hex; signer?: Address };

/**
 * Relays for a provider: releases in batches, refunds one by one, and timeouts of whatever was deposited, all of which
 * anybody may do and somebody must. Instructions are on the disk before they are acknowledged, and leave it when the
 * contract says that the escrow is settled, so a keeper that is killed goes on where it was.
 */
export function createKeeper(parameters: KeeperParameters): Keeper {
  const { calls, store, roundMs = 2_000, maxBatch = 50, log = () => {} } = parameters;
  const idOf = (hire: Hire): Hex => escrowId(hire, calls.deployment);
  const { startBlock } = parameters;
  const timeouts = createTimeouts({
    calls,
    store,
    maxBatch,
    ...(startBlock !== undefined && { startBlock }),
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function take(folder: string, functionName: string, it: Instruction, args: unknown[]): Promise<void> {
    await calls.check(functionName, args);
    await store.put(`${folder}/${idOf(readHireJson(it.hire))}`, it);
    schedule(0);
  }

  /** The instructions of a folder whose escrows are still held; the others are done, by whomever. */
  async function due(folder: string): Promise<{ key: string; hire: Hire; it: Instruction }[]> {
    const found: { key: string; hire: Hire; it: Instruction }[] = [];
    for (const key of await store.keys(folder)) {
      const it = await store.get<Instruction>(key);
      if (!it) continue;
      const hire = readHireJson(it.hire);
      if ((await calls.state(hire)).status === "held") found.push({ key, hire, it });
      else await store.delete(key);
    }
    return found;
  }

  async function releases(): Promise<number> {
    const pending = await due("release");
    let released = 0;
    for (let at = 0; at < pending.length; at += maxBatch) {
      const batch = pending.slice(at, at + maxBatch);
      await calls.batch(batch.map(({ hire, it }) => encodeEscrowCall("release", [hire, it.signature])));
      for (const { key, hire } of batch) {
        const { status } = await calls.state(hire);
        if (status === "held") {
          // The batch left it out although it was good when it came: it stays, and the next round asks again.
          await dropIfRefused(key, () =>
            calls.check("release", [hire, batch.find((b) => b.key === key)?.it.signature]),
          );
        } else {
          released++;
          await store.delete(key);
        }
      }
    }
    return released;
  }

  async function refunds(): Promise<number> {
    let refunded = 0;
    for (const { key, hire, it } of await due("refund")) {
      await dropIfRefused(key, async () => {
        await calls.refund(hire, it.signer ?? hire.buyer, it.signature);
        refunded++;
        await store.delete(key);
      });
    }
    return refunded;
  }

  /** An instruction that the contract refuses now will not get better. */
  async function dropIfRefused(key: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== "call_refused") throw error;
      log("The contract refuses an instruction.", { key, reason: error.reason });
      await store.delete(key);
    }
  }

  async function roundNow(): Promise<KeeperRound> {
    const released = await releases();
    const refunded = await refunds();
    const timedOut = await timeouts.round();
    const waiting = (await store.keys("release")).length + (await store.keys("refund")).length;
    if (released + refunded + timedOut > 0) log("A round was carried out.", { released, refunded, timedOut });
    return { released, refunded, timedOut, waiting };
  }

  const round = (): Promise<KeeperRound> => {
    const next = running.then(roundNow);
    running = next.catch(() => {});
    return next;
  };

  let started = false;
  function schedule(ms: number): void {
    if (!started || closed) return;
    if (timer !== undefined && ms > 0) return;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      await round().catch((error) =>
        log("A round failed; the next one tries again.", { error: String(error) }),
      );
      timer = undefined;
      schedule(roundMs);
    }, ms || Math.min(roundMs, BATCH_MS));
  }

  return {
    release: (hire, signature) =>
      take("release", "release", { hire: toHireJson(hire), signature }, [hire, signature]),
    refund: (hire, signer, signature) =>
      take("refund", "refund", { hire: toHireJson(hire), signature, signer }, [hire, signer, signature]),
    round,
    start: () => {
      started = true;
      schedule(0);
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** How long the first instruction of a batch waits for others, in milliseconds. */
const BATCH_MS = 200;
