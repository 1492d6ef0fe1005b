import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";

export async function receiptRow(step: Step, id: string): Promise<Row<"receipt">> {
  const receipt = await step.store.get("receipt", id);
  if (receipt === null) throw new Error(`There is no receipt ${id}.`);
  return receipt;
}

/** The list of receipts that wait for a deposit, by escrow id. */
export function waitingFor(escrowId: string): string {
  return `waiting/${escrowId}`;
}

/** The list of receipts that wait for a payment, by its `paymentKey`. */
export function waitingForPayment(key: string): string {
  return `waiting/${key}`;
}

/** Whether another receipt of this agent and hire_id was counted: the same hire counts once. */
export async function hireKeyTaken(step: Step, receipt: Row<"receipt">): Promise<boolean> {
  return (await step.store.get("hireKey", hireKey(receipt))) !== null;
}

/** `<agent>/<hire_id>`: what a receipt counts once for. */
export function hireKey(receipt: Row<"receipt">): string {
  return `${receipt.agent}/${receipt.hireId}`;
}
