import type { Buyer } from "tallystick-sdk/createBuyer";
import { within } from "tallystick-sdk/deadline";
import type { z } from "zod";
import { resumedHire, type resumedHireSchema } from "./hireAnswer.ts";

/** The most outcomes in one answer. */
const MAX_TOLD = 32;

type Outcome = z.output<typeof resumedHireSchema>;

/** Resumes interrupted hires. It continues when the client that asked for it is gone. */
export type ResumeDesk = {
  /**
   * Resumes all interrupted hires, and waits at most `ms` milliseconds. If they are being resumed already, it only
   * waits. If outcomes are left from before, it tells them, and begins nothing new.
   *
   * @returns the oldest outcomes that no answer has told yet, at most 32. `waiting`: how many hires have no outcome yet,
   * plus how many outcomes are left for later answers. `isDone` is false if another call will tell more
   */
  resume: (
    buyer: Pick<Buyer, "resume">,
    ms: number,
  ) => Promise<{ hires: Outcome[]; waiting: number; isDone: boolean }>;
};

export function createResumeDesk(): ResumeDesk {
  let running: Promise<{ error: unknown } | undefined> | undefined;
  let untold: Outcome[] = [];
  let left = 0;

  const start = (buyer: Pick<Buyer, "resume">): Promise<{ error: unknown } | undefined> =>
    buyer
      .resume(undefined, (outcome, stillLeft) => {
        left = stillLeft;
        // Only the fields of the answer are kept, because the result of the hire may be large.
        if (outcome) untold.push(resumedHire(outcome));
      })
      .then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      .finally(() => {
        running = undefined;
        left = 0;
      });

  return {
    resume: async (buyer, ms) => {
      if (running === undefined && untold.length === 0) running = start(buyer);
      const failed = running && untold.length < MAX_TOLD ? await within(running, ms) : undefined;
      if (failed) throw failed.error;
      const hires = untold.slice(0, MAX_TOLD);
      untold = untold.slice(MAX_TOLD);
      const waiting = left + untold.length;
      return { hires, waiting, isDone: running === undefined && waiting === 0 };
    },
  };
}
