import { randomBytes } from "node:crypto";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type Canary, canaryCommitment } from "tallystick-protocol/records/auditCanary";
import type { Log } from "tallystick-runtime/stderrLog";
import type { Buyer } from "tallystick-sdk/createBuyer";
import { HireFailedError } from "tallystick-sdk/errors";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";
import type { LocalAccount } from "viem";
import { buyerOf, type CanaryPlan } from "./canaryPlan.ts";

/** The place of a record in the ledger. */
export type SettledEntry = { ledger: string; index: number };

/** The progress of a plan. Salt, nonces and commitment are written down before the commitment is sent, and never change. */
type Arranged = {
  salt: Hex;
  nonces: Hex[];
  /** Absent in a plan that an earlier version arranged. */
  commitment?: Hex;
  /** The entry with the commitment. */
  entry?: SettledEntry;
  /** The state of each hire: made, or failed finally. */
  ended: { [index: number]: "made" | "failed" };
  isRevealed?: boolean;
};

/**
 * The node's state in a round. `time`: of its last tick, in unix seconds. `isAnchored`: whether an entry of the ledger is
 * anchored finally.
 */
type Moment = { time: number; isAnchored: (entry: SettledEntry) => Promise<boolean> };

export type CanaryDeskParameters = {
  plans: readonly CanaryPlan[];
  store: KeyValueStore;
  /** Makes the buyer of one canary, with the wallet `account` and a journal of its own. */
  openBuyer: (account: LocalAccount) => Pick<Buyer, "hire" | "find">;
  /**
   * Signs a record as the operator and settles it. The same body again gives the same entry, so the wait may end before
   * the answer.
   */
  settle: (type: "audit_canary", body: RecordBody, signal: AbortSignal) => Promise<SettledEntry>;
  log: Log;
};

/**
 * Arranges canaries. First it commits to a list of hires and their right verdicts. Once the commitment is anchored,
 * it makes the hires. When their audits have ended, it publishes the list. So nobody could choose the right verdicts
 * after seeing the auditors' verdicts.
 */
export function createCanaryDesk({ plans, store, openBuyer, settle, log }: CanaryDeskParameters) {
  const countMissing = createMissingPlans({ plans, store, log });

  /** @throws TallystickError `canary_plan_changed` */
  async function arranged(plan: CanaryPlan): Promise<Arranged & { commitment: Hex }> {
    const salt = toHex(randomBytes(32));
    const nonces = plan.hires.map(() => toHex(randomBytes(32)));
    const commitment = canaryCommitment({ salt, hires: canariesOf(plan, nonces) });
    const fresh: Arranged = { salt, nonces, commitment, ended: {} };
    await store.putNew(keyOf(plan), fresh);
    const kept = (await store.get<Arranged>(keyOf(plan))) ?? fresh;
    const present = canaryCommitment({ salt: kept.salt, hires: canariesOf(plan, kept.nonces) });
    // Earlier versions required only that a plan kept its number of hires.
    const isOfEarlier = kept.commitment === undefined && kept.nonces.length === plan.hires.length;
    if (isOfEarlier || present === kept.commitment) return { ...kept, commitment: present };
    throw new TallystickError({
      code: "canary_plan_changed",
      message: `The plan ${plan.name} has other hires than its commitment.`,
      hint: "Restore the wallets and verdicts of this plan as they were, or give the new list another name.",
    });
  }

  /** @throws the error of the first hire that could not be looked up. Such a hire does not stop the hires after it */
  async function makeHires(plan: CanaryPlan, it: Arranged, signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (const [n, canary] of plan.hires.entries()) {
      signal.throwIfAborted();
      if (it.ended[n] !== undefined) continue;
      const made = makeHire({ openBuyer, log }, plan, canary, it.nonces[n] as Hex);
      const outcome = await made.catch((error: unknown) => void failures.push(error));
      if (outcome === undefined) continue;
      it.ended[n] = outcome;
      await store.put(keyOf(plan), it);
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Continues one plan. Returns whether it is published. */
  async function advance(
    plan: CanaryPlan,
    { time, isAnchored }: Moment,
    signal: AbortSignal,
  ): Promise<boolean> {
    const it = await arranged(plan);
    if (it.isRevealed) return true;
    const { commitment } = it;
    const reveal = { salt: it.salt, hires: canariesOf(plan, it.nonces) };
    if (it.entry === undefined) {
      it.entry = await settle("audit_canary", { commitment }, signal);
      await store.put(keyOf(plan), it);
      log("Canaries were committed to.", { plan: plan.name, commitment });
    }
    if (!(await isAnchored(it.entry))) return false;
    if (time >= plan.hire_after && time < plan.reveal_after) await makeHires(plan, it, signal);
    if (time < plan.reveal_after) return false;
    await settle("audit_canary", { commitment, reveal } as RecordBody, signal);
    await store.put(keyOf(plan), { ...it, isRevealed: true } satisfies Arranged);
    log("Canaries were revealed.", { plan: plan.name });
    return true;
  }

  return {
    /**
     * Continues all plans. A plan that fails does not stop the plans after it, and counts as not published.
     *
     * @param tell gets the number of plans that are not published yet, also if one of them failed
     * @throws the error of the first plan that failed
     */
    round: async (moment: Moment, signal: AbortSignal, tell: (open: number) => void): Promise<void> => {
      let open = await countMissing();
      const failures: unknown[] = [];
      for (const plan of plans) {
        signal.throwIfAborted();
        try {
          if (!(await advance(plan, moment, signal))) open++;
        } catch (error) {
          signal.throwIfAborted();
          open++;
          failures.push(error);
          log("A plan of canaries failed. The next round repeats it.", { plan: plan.name, error });
        }
      }
      tell(open);
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Makes a hire, and returns how it ended. Returns undefined when the hire may be tried again. */
async function makeHire(
  { openBuyer, log }: Pick<CanaryDeskParameters, "openBuyer" | "log">,
  { name }: CanaryPlan,
  canary: CanaryPlan["hires"][number],
  nonce: Hex,
): Promise<"made" | "failed" | undefined> {
  const { seller, capability, params, max_price_usdc: maxPriceUsdc, max_latency_ms: maxLatencyMs } = canary;
  const buyer = openBuyer(buyerOf(canary));
  const known = (await buyer.find(nonce))?.kept;
  // A second attempt would not have the committed nonce. So an unfinished first attempt counts as failed.
  const isSpent = known !== undefined && known.attempts > 0;
  if (isSpent && (known.state === "running" || known.state === "open")) return "failed";
  try {
    await buyer.hire({
      ...{ capability, params, seller, maxPriceUsdc, maxLatencyMs, maxAttempts: 1 },
      // A key of 32 bytes is the nonce itself.
      idempotencyKey: nonce,
    });
    return "made";
  } catch (error) {
    log("A canary could not be hired.", { plan: name, seller, error });
    // The payment may be pending. The same call resumes the hire.
    return error instanceof HireFailedError && error.money === "authorized" ? undefined : await endOf(nonce);
  }

  /** `failed` if a seller was asked. Otherwise the hire may be tried again. */
  async function endOf(key: Hex): Promise<"failed" | undefined> {
    return ((await buyer.find(key))?.kept.attempts ?? 0) > 0 ? "failed" : undefined;
  }
}

function keyOf({ name }: Pick<CanaryPlan, "name">): string {
  return `canary/${name}`;
}

/**
 * Counts the plans that were begun, are not revealed, and are not in the file any more. Nobody can reveal them, so each of
 * them is logged once.
 */
function createMissingPlans({ plans, store, log }: Pick<CanaryDeskParameters, "plans" | "store" | "log">) {
  const present = new Set(plans.map(keyOf));
  const logged = new Set<string>();
  return async (): Promise<number> => {
    let missing = 0;
    for (const key of await store.keys("canary")) {
      // A damaged plan counts as not revealed. It must not stop the others.
      if (present.has(key) || (await unlessDamaged(store.get<Arranged>(key)))?.isRevealed) continue;
      missing++;
      if (logged.has(key)) continue;
      logged.add(key);
      const plan = key.slice(key.indexOf("/") + 1);
      log("A plan of canaries is not in the file any more, so its canaries are never revealed.", { plan });
    }
    return missing;
  };
}

/** The content of the commitment. */
function canariesOf(plan: CanaryPlan, nonces: readonly Hex[]): Canary[] {
  return plan.hires.map((canary, n) => ({
    buyer: buyerOf(canary).address.toLowerCase() as Address,
    nonce: nonces[n] as Hex,
    truth: canary.truth,
  }));
}

export type CanaryDesk = ReturnType<typeof createCanaryDesk>;
