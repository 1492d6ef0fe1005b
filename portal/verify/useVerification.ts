import { useEffect, useRef, useState } from "preact/hooks";
import { NodeError } from "../node/nodeError.ts";
import { type Finding, fails } from "./check.ts";

/** The state of a verification. `share` is null while the amount of work is unknown. */
export type Verification =
  | { state: "idle" }
  | { state: "running"; what: string; share: number | null }
  | { state: "done"; finding: Finding };

export type Step = { signal: AbortSignal; say: (what: string, share?: number) => void };

/** Runs one verification at a time. Starting a new one, or leaving the page, ends the old one. */
export function useVerification(): {
  verification: Verification;
  run: (work: (step: Step) => Promise<Finding>) => void;
  stop: () => void;
} {
  const [verification, set] = useState<Verification>({ state: "idle" });
  const control = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => control.current?.abort(), []);
  const run = (work: (step: Step) => Promise<Finding>) => {
    control.current?.abort();
    const own = new AbortController();
    control.current = own;
    const say = (what: string, share?: number) => {
      if (!own.signal.aborted) set({ state: "running", what, share: share ?? null });
    };
    say("Beginning");
    work({ signal: own.signal, say })
      .catch((error: unknown): Finding => {
        const text = error instanceof Error ? error.message : String(error);
        const hint = error instanceof NodeError ? error.hint : "";
        return { title: "The verification", checks: [fails(text, hint)] };
      })
      .then((finding) => {
        if (!own.signal.aborted) set({ state: "done", finding });
      });
  };
  const stop = () => {
    control.current?.abort();
    set({ state: "idle" });
  };
  return { verification, run, stop };
}
