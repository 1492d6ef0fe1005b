// The thread of verifyInParts: it verifies parts of a ledger's file, one after the other.
import { parentPort, workerData } from "node:worker_threads";
import { FilePart } from "./filePart.ts";
import type { PartMessage, PartOrder } from "./verifyInParts.ts";

const { file } = workerData as { file: string };
const tell = (message: PartMessage): void => parentPort?.postMessage(message);
const orders: PartOrder[] = [];
let wake: (() => void) | undefined;
parentPort?.on("message", (order: PartOrder) => {
  orders.push(order);
  wake?.();
});

async function next(): Promise<PartOrder> {
  while (orders.length === 0) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  return orders.shift() as PartOrder;
}

async function work(): Promise<never> {
  const filePart = new FilePart(file);
  for (;;) {
    const order = await next();
    if (order.kind !== "part") throw new Error("a part was expected");
    const { part } = order;
    // The position of the first line becomes known while the lines are verified.
    tell({ kind: "counted", part, lines: filePart.read(order.start, order.end) });
    const verified = filePart.verify();
    const place = await next();
    if (place.kind !== "place") throw new Error("a place was expected");
    if (verified === undefined) {
      tell({ kind: "doubtful", part });
      continue;
    }
    const { parent, head, leavesFrom } = verified;
    tell({ kind: "verified", part, parent, head, leaves: leavesFrom(place.first) });
  }
}

await work();
