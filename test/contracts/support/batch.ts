import type { Interface, Log } from "ethers";

/** Gas for one item: plenty for every verb, a payment that ends as a credit too. */
export const GAS_EACH = 500_000n;

/** A batch that stops is not a failure, so a node's estimate of its gas is that of one that does nothing: say how much. */
export const BATCH_GAS = { gasLimit: 16_000_000n };

/** What a batch said of itself: which items failed with what, and where it stopped. */
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
