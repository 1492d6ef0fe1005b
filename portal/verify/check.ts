import { entriesOf } from "../design/countOf.ts";
import type { OwnTree } from "./tree.ts";

/**
 * One check: it holds ("yes"), it does not hold ("no"), or it cannot be decided here ("open"). `text` is a
 * sentence, `detail` is the evidence.
 */
export type Check = { state: "yes" | "no" | "open"; text: string; detail?: string };

/**
 * The result of a verification: what was verified, and every check in order. `waitsFor`: the claim is newer
 * than the final log, so the verification must run again once a tick from this block on is final. `mayWaitFor`: all checks
 * hold so far, and the reader may run them again once this block is final. `tree`: the tree that was
 * computed, to compare with the chain.
 */
export type Finding = {
  title: string;
  checks: Check[];
  waitsFor?: number;
  mayWaitFor?: number;
  tree?: OwnTree;
};

/** Whether any check failed. */
export function isBroken({ checks }: Finding): boolean {
  return checks.some(({ state }) => state === "no");
}

export const holds = (text: string, detail?: string): Check => ({
  state: "yes",
  text,
  ...(detail && { detail }),
});
export const fails = (text: string, detail?: string): Check => ({
  state: "no",
  text,
  ...(detail && { detail }),
});
export const isOpen = (text: string, detail?: string): Check => ({
  state: "open",
  text,
  ...(detail && { detail }),
});

/** Says that a whole ledger verifies. */
export function allVerify(size: number): string {
  return size === 1 ? "The one entry verifies" : `All ${entriesOf(size)} verify`;
}

/** Says that the entries before a wrong one verify. */
export function beforeVerifies(size: number): string {
  return size === 1 ? "The one entry before it verifies" : `The ${entriesOf(size)} before it verify`;
}
