import type { ApplyContext } from "./applyContext.ts";
import type { Row } from "./tables.ts";

/** The key `<agent>/<hire_id>`. Of all receipts with one key, only one counts. */
export function hireKey(receipt: Pick<Row<"receipt">, "agent" | "hireId">): string {
  return `${receipt.agent}/${receipt.hireId}`;
}

/** The entry of a key, or null. An event reads each entry from the store only once. */
export function findHireKey(context: ApplyContext, id: string): Row<"hireKey"> | null {
  const open = context.hireKeys.get(id);
  if (open !== undefined) return open.row;
  const row = context.store.get("hireKey", id);
  context.hireKeys.set(id, { row, stored: row });
  return row;
}

/** Changes the entry of a key, or makes the entry. */
export function changeHireKey(
  context: ApplyContext,
  id: string,
  change: Partial<Omit<Row<"hireKey">, "id">>,
): void {
  const row = findHireKey(context, id);
  const stored = context.hireKeys.get(id)?.stored ?? null;
  context.hireKeys.set(id, { row: { ...EMPTY, ...row, id, ...change }, stored });
}

/** Whether another receipt of this agent and hire_id was counted: the same hire counts once. */
export function hireKeyTaken(context: ApplyContext, receipt: Row<"receipt">): boolean {
  const row = findHireKey(context, hireKey(receipt));
  return row !== null && row.hire !== null;
}

/** Writes all keys that this event changed. Each key is written once. */
export function saveHireKeys(context: ApplyContext): void {
  for (const { row, stored } of context.hireKeys.values()) {
    if (row !== null && row !== stored) context.store.put("hireKey", row);
  }
}

const EMPTY = { hire: null, paramsHash: null, resultHash: null, isEquivocal: false, audited: null };
