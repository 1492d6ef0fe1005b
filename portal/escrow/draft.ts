import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { isAddress } from "viem";
import { atomicOf } from "./usdc.ts";

/**
 * The form of a new escrow, as texts. `hours` is the time until the deadline. Optional fields may be empty.
 */
export type Draft = {
  seller: string;
  amount: string;
  hours: string;
  payee: string;
  arbiter: string;
  fee: string;
  feeRecipient: string;
  hireId: string;
};

export const EMPTY_DRAFT: Draft = {
  seller: "",
  amount: "",
  hours: "24",
  payee: "",
  arbiter: "",
  fee: "",
  feeRecipient: "",
  hireId: "",
};

/** A sentence that says what is wrong with a field. */
export type DraftIssues = { [field in keyof Draft]?: string };

const NOBODY: Hex = `0x${"0".repeat(40)}`;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const UINT128 = 1n << 128n;

/** Ten years. A longer time is probably a typing error. */
const MAX_HOURS = 87_600;

/**
 * Makes the terms of a buyer's hire from a draft, or says what is wrong with it.
 *
 * @param now unix seconds, of the chain if known
 * @param number a new number of 32 bytes for the hire, used if the draft names none
 */
export function hireOf(
  draft: Draft,
  { buyer, now, number }: { buyer: Hex; now: number; number: Hex },
): { hire: Hire; issues: null } | { hire: null; issues: DraftIssues } {
  const issues: DraftIssues = {};
  const address = (field: keyof Draft, isNeeded: boolean): Hex => {
    const text = draft[field].trim();
    if (text === "" && !isNeeded) return NOBODY;
    if (!ADDRESS.test(text)) issues[field] = "An address: 0x and 40 digits of 0–9 and a–f.";
    else if (!hasRightLetters(text))
      issues[field] = "A character is mistyped: the capital letters do not fit this address.";
    return text.toLowerCase() as Hex;
  };
  const seller = address("seller", true);
  const [payee, arbiter] = [address("payee", false), address("arbiter", false)];
  const feeRecipient = address("feeRecipient", false);
  const amount = atomicOf(draft.amount);
  if (amount === null || amount <= 0n || amount >= UINT128)
    issues.amount = "An amount above 0, with at most six decimals, like 5.00.";
  const fee = draft.fee.trim() === "" ? 0n : atomicOf(draft.fee);
  if (fee === null || (amount !== null && fee > amount)) issues.fee = "A part of the amount, or nothing.";
  else if (fee > 0n && feeRecipient === NOBODY)
    issues.feeRecipient ??= "A fee needs an account that receives it.";
  const hours = /^\d{1,5}(?:\.\d{1,2})?$/.test(draft.hours.trim()) ? Number(draft.hours) : 0;
  if (hours <= 0 || hours > MAX_HOURS) issues.hours = "Hours from now, above 0, like 24 or 0.5.";
  if (draft.hireId.trim() !== "" && !/^0x[0-9a-fA-F]{64}$/.test(draft.hireId.trim()))
    issues.hireId = "32 bytes: 0x and 64 digits of 0–9 and a–f.";
  if (seller === buyer) issues.seller ??= "That is your own account: nobody hires itself.";
  if (payee === buyer) issues.payee ??= "That is your own account.";
  if (Object.keys(issues).length > 0 || amount === null || fee === null) return { hire: null, issues };
  const hireId = draft.hireId.trim() === "" ? number : (draft.hireId.trim().toLowerCase() as Hex);
  const deadline = BigInt(Math.floor(now) + Math.floor(hours * 3_600));
  return {
    hire: { hireId, buyer, seller, payee, amount, fee, feeRecipient, deadline, arbiter },
    issues: null,
  };
}

/** Whether the capital letters of an address are those of EIP-55. An address that is all in one case has no such checksum. */
function hasRightLetters(address: string): boolean {
  const digits = address.slice(2);
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || isAddress(address);
}

/**
 * Fills a draft from a link. Links may come from strangers, so the reader sees every such field before
 * signing anything.
 */
export function draftOfLink(search: URLSearchParams): { draft: Draft; isFilled: boolean } {
  const named = Object.keys(EMPTY_DRAFT).filter((field) => search.has(field));
  const values = named.map((field) => [field, (search.get(field) ?? "").slice(0, 100)]);
  return { draft: { ...EMPTY_DRAFT, ...Object.fromEntries(values) }, isFilled: named.length > 0 };
}
