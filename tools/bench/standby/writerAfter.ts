import { setTimeout as sleep } from "node:timers/promises";
import { failure } from "./history.ts";
import type { Machine } from "./machine.ts";

/**
 * Waits until a condition has a value.
 *
 * @throws TallystickError `standby_test_failed` with the complaint when it takes too long
 */
export async function until<T>(
  condition: () => T | undefined | false,
  complaint: string,
  withinMs: number,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw failure(complaint);
    await sleep(5);
  }
}

/** The machine that writes, and the number of its process. */
export type Writer<M> = { writer: M; life: number };

/**
 * Waits for `waitMs`, in which clients can write. Returns the machine that was the writer during all of this time.
 *
 * A process that has lost the ledger ends a quarter of a second later, and until then it still looks like the writer.
 * The next process on its machine is a stand-by, where a fault has no effect. So a machine whose process changed is not
 * returned.
 */
export async function writerAfter<M extends Pick<Machine, "isWriter" | "lives">>(
  waitMs: number,
  machines: readonly M[],
  withinMs: number,
): Promise<Writer<M>> {
  for (;;) {
    const writer = await until(() => machines.find(({ isWriter }) => isWriter), "nobody writes", withinMs);
    const life = writer.lives;
    await sleep(waitMs);
    if (writer.isWriter && writer.lives === life) return { writer, life };
  }
}
