import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type Hex, toBareHex } from "tallystick-protocol/hex";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import type { LocalAccount } from "viem";
import { HireFailedError, type MoneyState } from "../errors.ts";
import { createJobLeases, type JobLease } from "../store/jobLeases.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { turnsByKey } from "../store/turnsByKey.ts";
import { type HireFacts, hireFacts, type KeptFailure, type SettledMoney } from "./hireFacts.ts";
import type { HireResult } from "./hireResult.ts";
import { type KeyNonce, keyNonces } from "./keyNonce.ts";

/** How long a hire is remembered by its idempotency key, in milliseconds. */
export const KEPT_MS = 30 * 86_400_000;

/** The most hires that are remembered in full. Of older hires that signed something, only a note stays. */
export const MAX_KEPT = 10_000;

/** The most characters of results that one process keeps. The oldest results are deleted first; their hires stay. */
export const MAX_KEPT_CHARACTERS = 128 * 1024 * 1024;

const SWEEP_MS = 3_600_000;

/** How long a silent process keeps the right to run a hire, in milliseconds. */
const TURN_MS = 60_000;

/** How long the turns of processes that were killed are kept, in milliseconds. */
const KEPT_TURN_MS = 86_400_000;

/** A hire that may have moved money, with everything that a look-up needs. */
export type SignedHire = { hireId: Hex; jobId: string; seller: string };

/** The state of the hire with an idempotency key. Times are milliseconds since 1970. */
export type KeptHire = {
  key: string;
  /** A hash of what was asked for. */
  asked: string;
  startedAt: number;
  /** How many sellers were asked. Each gets its own nonce. */
  attempts: number;
  /** How many calls asked a seller. In each call, a seller gets another nonce. */
  calls?: number;
} & KeptState;

/** How far a hire has come. */
export type KeptState =
  | { state: "running"; until: number }
  /** Nothing was signed, so it may be tried again. */
  | { state: "open" }
  /**
   * `money`: where it is, as far as that is known without a result. `isNote`: a result or a failure was stored, and was deleted
   * because there were too many.
   */
  | ({ state: "signed"; money?: MoneyState; isNote?: true } & SignedHire)
  | { state: "done"; hire: Omit<HireResult, "amount"> & { amount: string } }
  | { state: "failed"; error: KeptFailure };

/** The hires that were asked for with an idempotency key. */
export type KeptHires = {
  get: (key: string) => Promise<KeptHire | undefined>;
  /** Takes the exclusive right to run the hire of a key; undefined while another process, or another call, has it. */
  take: (key: string) => Promise<JobLease | undefined>;
  /** Stores a new hire. Returns false, and stores nothing, if there is a hire with this key already. */
  putNew: (kept: KeptHire) => Promise<boolean>;
  put: (kept: KeptHire) => Promise<void>;
  /** Stores the result of a hire. Does nothing when the key is unknown. */
  done: (key: string, hire: HireResult) => Promise<void>;
  /** Stores the entry hash of the receipt of a hire under this key. It may come before or after the result. */
  receipt: (key: string, jobId: string, receiptHash: string) => Promise<void>;
  /**
   * Stores where the money of the signed hire under this key ended. This may be known before or after the result. Does
   * nothing when the key is unknown, or belongs to another hire.
   */
  settled: (key: string, jobId: string, end: SettledMoney) => Promise<void>;
  /** Whether the end of a hire's money is stored, which is done after the budget has it. */
  isSettled: (key: string, jobId: string) => Promise<boolean>;
  /** Whether this hire is the one for which the key has signed. */
  hasSigned: (key: string, jobId: string) => Promise<boolean>;
  /**
   * Stores the failure of a hire whose money is settled. A stored result stays, and only its money changes. Does
   * nothing when the key is unknown, or has signed for another hire.
   */
  failed: (key: string, error: HireFailedError) => Promise<void>;
  nonce: KeyNonce;
};

/**
 * Remembers hires by their idempotency key for 30 days.
 *
 * A nonce leads to the job's id, and with that anyone can fetch the result. A key may be guessed, so the nonce is
 * made of the wallet's signature over the key. A key of 32 random bytes in hex is the nonce itself for the first
 * seller that is asked.
 */
export function keptHires(
  store: KeyValueStore,
  account: LocalAccount,
  now: () => number,
  maxCharacters = MAX_KEPT_CHARACTERS,
): KeptHires {
  /** The results that this process keeps, the oldest first. */
  const sizes = new Map<string, number>();
  let characters = 0;
  const facts = hireFacts(store);
  const inTurn = turnsByKey();
  /** A hire without the facts about it. */
  const find = async (key: string): Promise<KeptHire | undefined> => {
    const kept = await store.get<KeptHire>(nameOf(key));
    return kept && kept.startedAt + KEPT_MS > now() ? kept : undefined;
  };
  const get = async (key: string): Promise<KeptHire | undefined> => {
    const kept = await find(key);
    return kept && (await withFacts(kept, facts));
  };
  const put = (kept: KeptHire): Promise<void> => store.put(nameOf(kept.key), kept);
  const hasSigned = async (key: string, jobId: string): Promise<boolean> => {
    const kept = await find(key);
    return kept !== undefined && signedJobOf(kept) === jobId;
  };
  const turns = createJobLeases({ store, leaseMs: TURN_MS, now, folder: TURNS });
  const sweep = sweeper(store, facts, now, inTurn);

  /** Deletes the oldest results when all results together are too large. Their hires become `signed` again. */
  async function makeRoom(key: string, size: number): Promise<void> {
    characters += size - (sizes.get(key) ?? 0);
    sizes.delete(key);
    sizes.set(key, size);
    for (const [oldest, its] of sizes) {
      if (characters <= maxCharacters) return;
      characters -= its;
      sizes.delete(oldest);
      const kept = await get(oldest).catch(() => undefined);
      if (kept?.state !== "done") continue;
      await put(signedNote(kept));
      await facts.forgetFailure(factsOf(oldest, kept.hire.jobId));
    }
  }

  return {
    get,
    put,
    take: (key) => turns.take(hashOf(key)),
    putNew: async (kept) => {
      await sweep();
      if (await store.putNew(nameOf(kept.key), kept)) return true;
      // An expired hire counts as gone.
      if ((await find(kept.key)) !== undefined) return false;
      const old = await store.get<KeptHire>(nameOf(kept.key));
      const signed = old && signedJobOf(old);
      if (signed !== undefined) await facts.forgetAll(factsOf(kept.key, signed));
      await store.delete(nameOf(kept.key));
      return await store.putNew(nameOf(kept.key), kept);
    },
    done: inTurn(async (key, hire) => {
      const kept = await find(key);
      if (!kept) return;
      const { asked, startedAt, attempts } = kept;
      const amount = String(hire.amount);
      await put({ key, asked, startedAt, attempts, state: "done", hire: { ...hire, amount } });
      await makeRoom(key, JSON.stringify(hire.result ?? null).length);
    }),
    receipt: async (key, jobId, receiptHash) => {
      if ((await find(key)) !== undefined) await facts.addReceipt(factsOf(key, jobId), receiptHash);
    },
    settled: async (key, jobId, end) => {
      if (await hasSigned(key, jobId)) await facts.addEnd(factsOf(key, jobId), end);
    },
    hasSigned,
    isSettled: async (key, jobId) => (await facts.end(factsOf(key, jobId))) !== undefined,
    failed: inTurn(async (key, error) => {
      const kept = await find(key);
      if (!kept) return;
      // Perhaps another process has the result, or gets it at this moment.
      const its = signedJobOf(kept);
      if (its === error.jobId) return await facts.putFailure(factsOf(key, error.jobId), asJson(error));
      // The key has signed for another hire since. This one may have its result, which an old failure must not replace.
      if (its !== undefined) return;
      const { asked, startedAt, attempts } = kept;
      await put({ key, asked, startedAt, attempts, state: "failed", error: asJson(error) });
    }),
    nonce: keyNonces(account),
  };
}

const FOLDER = "call";
const TURNS = "turn";

/** Forgets old hires and old turns, at most once an hour. */
function sweeper(
  store: KeyValueStore,
  facts: HireFacts,
  now: () => number,
  inTurn: ReturnType<typeof turnsByKey>,
): () => Promise<void> {
  let sweptAt = 0;
  // While a key is valid, a note stays that it has signed: without this note, the key could pay again.
  const forget = inTurn(async (_key: string, name: string): Promise<void> => {
    // The hire may have gone on since it was listed.
    const kept = await store.get<KeptHire>(name);
    if (!kept) return;
    const isExpired = kept.startedAt + KEPT_MS <= now();
    const signed = signedJobOf(kept);
    if (isExpired || signed === undefined) {
      if (signed !== undefined) await facts.forgetAll(factsOf(kept.key, signed));
      return await store.delete(name);
    }
    const known = await withFacts(kept, facts);
    if (known.state === "done" || known.state === "failed") await store.put(name, signedNote(known));
    await facts.forgetFailure(factsOf(kept.key, signed));
  });
  return async () => {
    if (now() - sweptAt < SWEEP_MS) return;
    sweptAt = now();
    const kept: { name: string; key: string; startedAt: number; isBare: boolean }[] = [];
    const failed = await facts.failed();
    for (const name of await store.keys(FOLDER)) {
      // A record that cannot be read stays, and stops no other hire.
      const one = await store.get<KeptHire>(name).catch(() => undefined);
      if (!one) continue;
      const isBare = one.state === "signed" && !failed.has(factsOf(one.key, one.jobId));
      kept.push({ name, key: one.key, startedAt: one.startedAt, isBare });
    }
    kept.sort((a, b) => b.startedAt - a.startedAt);
    for (const [at, { name, key, startedAt, isBare }] of kept.entries()) {
      if ((at < MAX_KEPT || isBare) && startedAt + KEPT_MS > now()) continue;
      // What cannot be read or deleted stays, and stops no new hire.
      await forget(key, name).catch(() => {});
    }
    for (const name of await store.keys(TURNS)) {
      const turn = await store.get<{ until: number }>(name).catch(() => undefined);
      if (turn && turn.until + KEPT_TURN_MS <= now()) await store.delete(name).catch(() => {});
    }
  };
}

/** What stays of a hire whose result or failure is deleted. The key never pays again. */
function signedNote(kept: KeptHire & { state: "done" | "failed" }): KeptHire {
  const { key, asked, startedAt, attempts } = kept;
  const { hireId, jobId } = kept.state === "done" ? kept.hire : kept.error;
  const seller = kept.state === "done" ? kept.hire.listing.agent_id : kept.error.seller;
  const money = lastMoney(kept.state === "done" ? kept.hire.money : kept.error.money);
  return { key, asked, startedAt, attempts, state: "signed", hireId, jobId, seller, money, isNote: true };
}

/** Where the money is, in the words for a hire without a result. */
function lastMoney(money: HireResult["money"]): MoneyState {
  return money === "released" ? "paid" : money;
}

/** The job for which something was signed. */
function signedJobOf(kept: KeptHire): string | undefined {
  if (kept.state === "signed") return kept.jobId;
  if (kept.state === "failed") return kept.error.jobId;
  return kept.state === "done" ? kept.hire.jobId : undefined;
}

/** Adds to a hire what became known of it besides its result. A result is worth more than a failure. */
async function withFacts(kept: KeptHire, facts: HireFacts): Promise<KeptHire> {
  if (kept.state === "signed") {
    const { key, asked, startedAt, attempts, jobId } = kept;
    const name = factsOf(key, jobId);
    const error = await facts.failure(name);
    if (error) return { key, asked, startedAt, attempts, state: "failed", error };
    const end = await facts.end(name);
    return end ? { ...kept, money: lastMoney(end.money) } : kept;
  }
  if (kept.state !== "done") return kept;
  const { jobId, receiptHash } = kept.hire;
  const name = factsOf(kept.key, jobId);
  const end = isMoneyOpen(kept.hire) ? ((await facts.end(name)) ?? (await facts.failure(name))) : undefined;
  const found = receiptHash === null ? ((await facts.receipt(name)) ?? null) : null;
  return { ...kept, hire: withEnd(withReceipt(kept.hire, found), end) };
}

/** @throws InvalidInputError naming `idempotencyKey` */
export function checkKey(key: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new InvalidInputError({
    issues: [{ field: "idempotencyKey", message: "must have 1 to 200 visible ASCII characters" }],
  });
}

/** The result of a hire that was kept. */
export function revive(kept: KeptHire & { state: "done" }): HireResult {
  return { ...kept.hire, amount: BigInt(kept.hire.amount) } as HireResult;
}

/** Adds the entry hash of the receipt to a hire. If the hire has a hash already, it stays. */
function withReceipt<Hire extends Pick<HireResult, "receiptHash" | "ratingToken">>(
  hire: Hire,
  receiptHash: string | null,
): Hire {
  if (receiptHash === null || hire.receiptHash !== null) return hire;
  return { ...hire, receiptHash, ratingToken: ratingToken(receiptHash, "buyer") };
}

/** If the money of a hire was open, adds where the money is in the end. */
function withEnd<Hire extends Pick<HireResult, "money" | "settlementTx">>(
  hire: Hire,
  end: SettledMoney | undefined,
): Hire {
  if (end === undefined || !isMoneyOpen(hire)) return hire;
  const { money, tx = hire.settlementTx } = end;
  return { ...hire, money, settlementTx: tx };
}

/** Whether the money of a hire with a result may still move. */
export function isMoneyOpen({ money }: Pick<HireResult, "money">): boolean {
  return money === "held" || money === "authorized";
}

/** The failure of a hire that was kept. */
export function reviveFailure({ error }: KeptHire & { state: "failed" }): HireFailedError {
  return new HireFailedError({ ...error, seller: error.seller as HireFailedError["seller"] });
}

function asJson(error: HireFailedError): KeptFailure {
  const { code, message, hint, seller, money, hireId, jobId, escrow, words } = error;
  return {
    code,
    message,
    seller,
    money,
    hireId,
    jobId,
    ...(hint !== undefined && { hint }),
    ...(escrow !== undefined && { escrow }),
    ...(words !== undefined && { words }),
  };
}

/** Makes a safe name from any key. */
function nameOf(key: string): string {
  return `${FOLDER}/${hashOf(key)}`;
}

/** The name of what is known of a hire under a key. */
function factsOf(key: string, jobId: string): string {
  return `${hashOf(key)}.${jobId}`;
}

function hashOf(key: string): string {
  return toBareHex(sha256(utf8ToBytes(key)));
}
