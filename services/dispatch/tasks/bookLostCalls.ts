import { readDollars } from "../models/money.ts";
import { bookOf, type TaskFile } from "./taskFile.ts";
import type { World } from "./world.ts";

/** Books the amounts that the last process reserved for a task's calls and did not book. */
export async function bookLostCalls({ budget }: Pick<World, "budget">, file: TaskFile): Promise<void> {
  const key = bookOf(file);
  for (const { id } of await budget.underWay(key)) {
    const known = file.calls[id.slice(key.length + 1)];
    // A request without a record was never sent.
    await budget.settle(id, known ? (readDollars(known.record.cost_usd) ?? 0n) : 0n);
  }
}
