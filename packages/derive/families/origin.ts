import type { Place } from "../place.ts";

/**
 * How money reached a wallet: by a transfer (`plain`), as the payout of an escrow of `from`, from a hub, from
 * a wallet with too many transfers (`busy`), or newly minted.
 */
export type How = "plain" | "payout" | "hub" | "busy" | "mint";

/** A transfer that a wallet may have begun with. */
export type Inflow = Place & { time: number; from: string; value: bigint; how: How };

/** Where and when a wallet first spent, or first declared itself: it was registered, or agreed to be paid. */
export type Act = Place & { time: number };

/** What is stored of a wallet: its largest inflow before it first spent, and where it first spent. */
export type Origin = { inflow: Inflow | null; act: Act | null };

const NOTHING = "-";

/** `<from> <value> <block> <log> <time> <how>`. */
export function formatInflow({ from, value, block, log, time, how }: Inflow): string {
  return `${from} ${value} ${block} ${log} ${time} ${how}`;
}

export function parseInflow(line: string): Inflow {
  const [from = "", value = "0", block, log, time, how] = line.split(" ");
  const at = { block: Number(block), log: Number(log), time: Number(time) };
  return { from, value: BigInt(value), ...at, how: how as How };
}

/** Whether a wallet spent, without reading the rest. */
export function hasSpent(origin: string): boolean {
  return origin.includes(";");
}

/**
 * Stores an inflow if it is larger than the stored one and the wallet has not spent. Of equal inflows the
 * first one stays.
 */
export function withInflow(origin: string, inflow: Inflow): string {
  if (origin !== "" && parseInflow(origin).value >= inflow.value) return origin;
  return formatInflow(inflow);
}

/** A wallet spends for the first time. */
export function withSpent(origin: string, { block, log, time }: Act): string {
  return `${origin === "" ? NOTHING : origin};${block} ${log} ${time}`;
}

export function parseOrigin(origin: string): Origin {
  const [inflow = "", act] = origin.split(";");
  const [block, log, time] = act?.split(" ").map(Number) ?? [];
  return {
    inflow: inflow === NOTHING || inflow === "" ? null : parseInflow(inflow),
    act: act === undefined ? null : { block: block ?? 0, log: log ?? 0, time: time ?? 0 },
  };
}
