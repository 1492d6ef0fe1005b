import type { Address } from "tallystick-protocol/address";
import type { CountEvent, PastEvent, TransferEvent } from "../events.ts";
import { paymentKey } from "../payments.ts";
import { isBefore, type Place } from "../place.ts";
import {
  type FirstSpentRead,
  MAX_EMPTY,
  type PaymentsRead,
  type Read,
  type TransfersFromRead,
  type TransfersToRead,
} from "./reads.ts";

/**
 * The lines of a relevant log for the transfers that were read.
 *
 * @param transfers at least the transfers that were asked for, in the order of the chain. Other transfers are left out
 */
export function linesOf(read: Read, transfers: readonly TransferEvent[]): PastEvent[] {
  switch (read.kind) {
    case "transfersTo":
      return inflowLines(read, transfers);
    case "transfersFrom":
      return outflowLines(read, transfers);
    case "firstSpent":
      return spentLines(read, transfers);
    case "payments":
      return paymentLines(read, transfers);
    case "authorization":
      return [];
  }
}

function inflowLines(
  { wallet, known, after, before, limit }: TransfersToRead,
  transfers: readonly TransferEvent[],
): PastEvent[] {
  const found = transfers.filter((it) => it.to === wallet && isBetween(it, after, before)).slice(0, limit);
  const lines: PastEvent[] = found.map(({ authorized: _, ...it }) => ({ ...it, kind: "history" }));
  const last = found[limit - 1];
  return last === undefined ? lines : [...lines, countLine(last, wallet, "in", known + limit)];
}

function outflowLines(
  { wallet, before, limit }: TransfersFromRead,
  transfers: readonly TransferEvent[],
): PastEvent[] {
  const last = transfers.filter((it) => it.from === wallet && isBetween(it, null, before))[limit - 1];
  return last === undefined ? [] : [countLine(last, wallet, "out", limit)];
}

function spentLines({ wallet, before }: FirstSpentRead, transfers: readonly TransferEvent[]): PastEvent[] {
  const sent = transfers.filter((it) => it.from === wallet && isBetween(it, null, before));
  const first = sent.find(({ value }, n) => value !== "0" || n + 1 >= MAX_EMPTY);
  return first === undefined ? [] : [countLine(first, wallet, "spent", 1)];
}

function paymentLines(
  { tx, from, to, value, after, before, limit }: PaymentsRead,
  transfers: readonly TransferEvent[],
): PastEvent[] {
  const key = paymentKey(tx, from, to, value);
  return transfers
    .filter(
      (it) => paymentKey(it.tx, it.from, it.to, BigInt(it.value)) === key && isBetween(it, after, before),
    )
    .slice(0, limit)
    .map((it) => ({ ...it, kind: "history" }));
}

function countLine(
  { block, time, log }: TransferEvent,
  wallet: string,
  side: CountEvent["side"],
  transfers: number,
): PastEvent {
  return { block, time, log, kind: "count", wallet: wallet as Address, side, transfers };
}

function isBetween(place: Place, after: Place | null, before: Place): boolean {
  return (after === null || isBefore(after, place)) && isBefore(place, before);
}
