import type { Interface, Log } from "ethers";

/** Gas for one item. It is enough for every verb, also for a payment that becomes a credit. */
export const GAS_EACH = 500_000n;

/**
 * The gas limit of a batch. A batch with too little gas stops early and does not fail. So a node's estimate may be enough
 * only for a batch that does nothing.
 */
export const BATCH_GAS = { gasLimit: 16_000_000n };

/** The events of a batch: the items that failed, their errors, and where it stopped. */
export type BatchReport = { failed: [index: bigint, reason: string][]; stopped: bigint | undefined };

/** Reads a batch's own events out of its receipt. */
export function reportOf(abi: Interface, receipt: { logs: readonly Log[] } | null): BatchReport {
  const events = receipt?.logs.map((log) => abi.parseLog(log)) ?? [];
  const named = (name: string) => events.filter((event) => event?.name === name).map((event) => event?.args);
  return {
    failed: named("ItemFailed").map((args) => [args?.index, args?.reason]),
    stopped: named("BatchStopped")[0]?.index,
  };
}

/** The data of an error, by its name and arguments. */
export function errorData(abi: Interface, name: string, args: unknown[] = []): string {
  return abi.encodeErrorResult(name, args);
}
