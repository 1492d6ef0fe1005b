import type { OwnTree } from "./tree.ts";

/**
 * One thing that was looked at: it holds, it does not, or it is open because what is needed for it is not at hand.
 * `text` is a sentence, `detail` what it rests on.
 */
export type Check = { state: "yes" | "no" | "open"; text: string; detail?: string };

/**
 * What came of a verification: what was verified, and every check in its order. `waitsFor`: a block that has to be final before all of
 * it can be said; `mayWaitFor`: one at which the rest, which holds so far, can be looked at again. `tree`: what it comes to, to be held to the
 * chain.
 */
export type Finding = {
  title: string;
  checks: Check[];
  waitsFor?: number;
  mayWaitFor?: number;
  tree?: OwnTree;
};

/** Whether anything does not hold. */
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
