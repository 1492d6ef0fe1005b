import type { Chain } from "./chain.ts";

/** The gas of one item of a batch, from a trace of the EVM. */
export type TracedItem = {
  /** The remaining gas at the contract's last check, at which it decides whether to run the item. */
  left: bigint;
  /** The gas with which the item began; undefined if the item did not run. */
  given: bigint | undefined;
};

type Step = { op: string; depth: number; gas: number | string; stack: string[] };

/**
 * Traces a batch in the EVM. For each item it gives the gas that the batch had left, and the gas that the item got.
 *
 * @param hash of a transaction that calls the escrow itself
 */
export async function traceBatch(chain: Chain, hash: string): Promise<TracedItem[]> {
  const options = { disableStorage: true, disableMemory: true };
  const trace = await chain.ethers.provider.send("debug_traceTransaction", [hash, options]);
  const steps = trace.structLogs as Step[];
  const items: TracedItem[] = [];
  let looks = 0;
  for (const [i, step] of steps.entries()) {
    if (step.depth !== 1) continue;
    const after = steps[i + 1];
    if (step.op === "GAS" && after !== undefined) {
      const left = BigInt(`0x${(after.stack.at(-1) as string).replace(/^0x/, "")}`);
      const item = items.at(-1);
      // The gas is read twice for each item: before it is copied, and after.
      if (looks % 2 === 0 || item === undefined) items.push({ left, given: undefined });
      else item.left = left;
      looks++;
    }
    const item = items.at(-1);
    if (step.op === "DELEGATECALL" && after?.depth === 2 && item) item.given = BigInt(after.gas);
  }
  return items;
}
