import { append, itemsOf } from "./lists.ts";
import { STATE_ID, type Step } from "./step.ts";

/** The agenda keeps what will be due in buckets of this many seconds, so a tick visits each bucket about once. */
export const BUCKET_SECONDS = 300;

/**
 * What can fall due: a hire leaves the 24-hour or the 30-day window, a rating the latter, a receipt has waited long enough for its payment, a
 * presumed hire payment for its receipt.
 */
export type AgendaKind = "day" | "window" | "rating" | "receipt" | "payment";

/** Puts `kind id` on the agenda, to be run by the first tick with time ≥ `due`. */
export async function schedule(step: Step, due: number, kind: AgendaKind, id: string): Promise<void> {
  await append(step.store, listName(Math.floor(due / BUCKET_SECONDS)), `${due} ${kind} ${id}`);
}

/**
 * Runs all that is due at `time`. The bucket that `time` falls into is visited again by the next tick, so `run` must do
 * nothing for what is done already.
 */
export async function runAgenda(
  step: Step,
  time: number,
  run: (kind: AgendaKind, id: string) => Promise<void>,
): Promise<void> {
  const current = Math.floor(time / BUCKET_SECONDS);
  for (let bucket = step.state.agendaBucket ?? current; bucket <= current; bucket++) {
    for await (const item of itemsOf(step.store, listName(bucket))) {
      const [due, kind, id] = item.split(" ") as [string, AgendaKind, string];
      if (Number(due) <= time) await run(kind, id);
    }
  }
  await step.store.update("state", STATE_ID, { agendaBucket: current });
}

function listName(bucket: number): string {
  return `agenda/${bucket}`;
}
