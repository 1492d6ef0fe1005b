import { flat } from "../flat.ts";
import type { Place } from "../place.ts";

/**
 * How money reached a wallet. `plain`: by a transfer. `payout`: from an escrow, whose buyer is `from`. `hub`: from a
 * hub. `busy`: from a wallet with too many transfers. `mint`: it was newly minted.
 */
export type How = "plain" | "payout" | "hub" | "busy" | "mint";

/** A transfer that may be the wallet's largest inflow before it first spent. */
export type Inflow = Place & { time: number; from: string; value: bigint; how: How };

/** Where and when a wallet first spent, or first declared itself: it was registered, or agreed to be paid. */
export type Act = Place & { time: number };

/** What is stored of a wallet: its largest inflow before it first spent, and where it first spent. */
export type Origin = { inflow: Inflow | null; act: Act | null };

/** Begins the line of a wallet that spent. */
const SPENT = ";";

/** `<from> <value> <block> <log> <time> <how>`. */
export function formatInflow({ from, value, block, log, time, how }: Inflow): string {
  return flat(`${from} ${value} ${block} ${log} ${time} ${how}`);
}

export function parseInflow(line: string): Inflow {
  const [from, value, block, log, time, how] = line.split(" ") as [
    string,
    string,
    string,
    string,
    string,
    How,
  ];
  return { from, value: BigInt(value), block: Number(block), log: Number(log), time: Number(time), how };
}

/**
 * Whether a wallet has spent. One character shows it, because each transfer asks this about its sender and
 * its receiver.
 */
export function hasSpent(origin: string): boolean {
  return origin.startsWith(SPENT);
}

/**
 * The line of a wallet after an inflow: the larger of the stored inflow and this one. Of equal inflows the
 * first one stays. Only for a wallet that has not spent (see {@link hasSpent}).
 */
export function withInflow(origin: string, inflow: Inflow): string {
  return origin !== "" && valueIn(origin) >= inflow.value ? origin : formatInflow(inflow);
}

/** The value of an inflow, without reading the rest of its line. */
export function valueIn(line: string): bigint {
  const start = line.indexOf(" ") + 1;
  return BigInt(line.slice(start, line.indexOf(" ", start)));
}

/**
 * The line of a wallet after it first spent: `;<block> <log> <time>;<its largest inflow before, or nothing>`.
 */
export function withSpent(origin: string, { block, log, time }: Act): string {
  return flat(`${SPENT}${block} ${log} ${time}${SPENT}${origin}`);
}

export function parseOrigin(origin: string): Origin {
  if (!hasSpent(origin)) return { inflow: origin === "" ? null : parseInflow(origin), act: null };
  const end = origin.indexOf(SPENT, SPENT.length);
  const [block, log, time] = origin.slice(SPENT.length, end).split(" ");
  const inflow = origin.slice(end + SPENT.length);
  return {
    inflow: inflow === "" ? null : parseInflow(inflow),
    act: { block: Number(block), log: Number(log), time: Number(time) },
  };
}
