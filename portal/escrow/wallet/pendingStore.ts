import type { Hex } from "tallystick-protocol/hex";
import { isAddressText, isHexText } from "./createChain.ts";

/** A transaction that the wallet was asked for. It is stored, so that the page knows it after a reload. */
export type Pending = {
  key: string;
  /** The action, as a heading. */
  title: string;
  /** The id of its escrow. */
  id: Hex;
  chainId: number;
  from: Hex;
  to: Hex;
  data: Hex;
  /** Unix milliseconds. */
  at: number;
  /** The head of the chain before it was sent. */
  startBlock: number;
  /** Null until the wallet returns it. */
  hash: Hex | null;
  /** Null until the chain has shown it. */
  nonce: number | null;
};

const KEY = "tallystick-escrow-pending";
const MAX_KEPT = 20;

/** A stored transaction is forgotten this long after the wallet was asked for it, in milliseconds. */
const FORGOTTEN_MS = 7 * 86_400_000;

/** The stored transactions, the oldest first. */
export function pendingOnes(now: number = Date.now()): Pending[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(kept)) return [];
    return kept.filter((it): it is Pending => isPending(it) && now - it.at < FORGOTTEN_MS).slice(-MAX_KEPT);
  } catch {
    return [];
  }
}

/** Stores a transaction in place of the one with the same key. */
export function keepPending(pending: Pending): void {
  write([...pendingOnes().filter(({ key }) => key !== pending.key), pending]);
}

export function forgetPending(key: string): void {
  write(pendingOnes().filter((it) => it.key !== key));
}

function write(pending: readonly Pending[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(pending.slice(-MAX_KEPT)));
  } catch {
    // Without storage the transaction is followed until the page is closed.
  }
}

function isPending(value: unknown): value is Pending {
  const it = Object(value) as { [field in keyof Pending]: unknown };
  const isCount = (count: unknown) => Number.isSafeInteger(count) && (count as number) >= 0;
  return (
    typeof it.key === "string" &&
    typeof it.title === "string" &&
    isHash(it.id) &&
    [it.chainId, it.at, it.startBlock].every(isCount) &&
    isAddressText(it.from) &&
    isAddressText(it.to) &&
    isHexText(it.data) &&
    (it.hash === null || isHash(it.hash)) &&
    (it.nonce === null || isCount(it.nonce))
  );
}

function isHash(value: unknown): value is Hex {
  return isHexText(value) && value.length === 66;
}
