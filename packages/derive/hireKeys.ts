import type { Step } from "./step.ts";
import { type Answer, after, forEach } from "./store.ts";
import type { Row } from "./tables.ts";

/** `<agent>/<hire_id>`: what a receipt counts once for. */
export function hireKey(receipt: Pick<Row<"receipt">, "agent" | "hireId">): string {
  return `${receipt.agent}/${receipt.hireId}`;
}

/** What is known under a key, or null. A step reads each once. */
export function findHireKey(step: Step, id: string): Answer<Row<"hireKey"> | null> {
  const open = step.hireKeys.get(id);
  if (open !== undefined) return open.row;
  return after(step.store.get("hireKey", id), (row) => {
    step.hireKeys.set(id, { row, stored: row });
    return row;
  });
}

/** Notes something under a key. */
export function changeHireKey(
  step: Step,
  id: string,
  change: Partial<Omit<Row<"hireKey">, "id">>,
): Answer<void> {
  return after(findHireKey(step, id), (row) => {
    const stored = step.hireKeys.get(id)?.stored ?? null;
    step.hireKeys.set(id, { row: { ...EMPTY, ...row, id, ...change }, stored });
  });
}

/** Whether another receipt of this agent and hire_id was counted: the same hire counts once. */
export function hireKeyTaken(step: Step, receipt: Row<"receipt">): Answer<boolean> {
  return after(findHireKey(step, hireKey(receipt)), (row) => row !== null && row.hire !== null);
}

/** Writes the keys that this step changed, each once. */
export function saveHireKeys(step: Step): Answer<void> {
  if (step.hireKeys.size === 0) return;
  return forEach([...step.hireKeys.values()], ({ row, stored }) => {
    if (row === null || row === stored) return;
    if (stored === null) return step.store.insert("hireKey", row);
    const { id, ...change } = row;
    return step.store.update("hireKey", id, change);
  });
}

const EMPTY = { hire: null, paramsHash: null, resultHash: null, isEquivocal: false, audited: null };
