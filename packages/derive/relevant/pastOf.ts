import type { DeriveEvent, TransferEvent } from "../events.ts";
import type { ReadPast } from "./applyRelevant.ts";

/** Answers reads from a log that has all transfers. */
export function pastOf(log: readonly DeriveEvent[]): ReadPast {
  const [first] = log;
  const token = first?.kind === "params" ? first.token?.address : undefined;
  const transfers = log.filter(
    (it): it is TransferEvent => it.kind === "transfer" && (token === undefined || it.token === token),
  );
  const to = Map.groupBy<string, TransferEvent>(transfers, (it) => it.to);
  const from = Map.groupBy<string, TransferEvent>(transfers, (it) => it.from);
  const tx = Map.groupBy<string, TransferEvent>(transfers, (it) => it.tx);
  return (reads, event) =>
    reads.map((read) => {
      if (read.kind === "transfersTo") return to.get(read.wallet) ?? [];
      if (read.kind === "transfersFrom" || read.kind === "firstSpent") return from.get(read.wallet) ?? [];
      if (read.kind === "payments") return tx.get(read.tx) ?? [];
      if (event.kind !== "transfer") return [];
      return (tx.get(event.tx) ?? []).filter((it) => it.block === event.block && it.log === event.log);
    });
}
