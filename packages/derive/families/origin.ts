import { isBefore, type Place } from "../place.ts";

/**
 * How money reached a wallet: by a transfer (`plain`), as the payout of an escrow of `from`, from a hub, from
 * a wallet with too many transfers (`busy`), or newly minted.
 */
export type How = "plain" | "payout" | "hub" | "busy" | "mint";

/** A transfer that a wallet may have begun with. */
export type Inflow = Place & { time: number; from: string; value: bigint; how: How };

/** Where and when a wallet first acted. */
export type Act = Place & { time: number };

/** What is stored of a wallet: its largest inflow before it acted, and where it first acted. */
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

/** Whether a wallet acted, without reading the rest. */
export function hasActed(origin: string): boolean {
  return origin.includes(";");
}

/**
 * Stores an inflow if it is larger than the stored one and the wallet has not acted. Of equal inflows the
 * first one stays.
 */
export function withInflow(origin: string, inflow: Inflow): string {
  if (origin !== "" && parseInflow(origin).value >= inflow.value) return origin;
  return formatInflow(inflow);
}

/** A wallet acts for the first time. */
export function withAct(origin: string, { block, log, time }: Act): string {
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

/** The earlier of two acts. */
export function earlier(a: Act | null, b: Act | null): Act | null {
  if (a === null || b === null) return a ?? b;
  return isBefore(b, a) ? b : a;
}
