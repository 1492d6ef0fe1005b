import type { StreamEvent } from "../node/followStream.ts";
import type { MarketHire, MarketTierChange } from "./marketQuery.ts";

/** One line of the market's feed. */
export type FeedItem =
  | {
      kind: "hire";
      key: string;
      id: string;
      time: number;
      seller: string;
      buyer: string;
      capability: string | null;
      price: string;
      outcome: string;
    }
  | { kind: "rating"; key: string; time: number; rater: string; ratee: string; stars: number }
  | { kind: "tier"; key: string; time: number; agent: string; from: number; to: number };

/** A line that the stream told, and its position in the log. Positions sort like the log. */
export type ToldItem = { position: string; item: FeedItem };

/** The most lines that the page shows. */
const MAX_SHOWN = 9;

/** Sorts lines by time, the latest first. Keeps each line once, and only as many lines as the page shows. */
export function mergeFeed(items: readonly FeedItem[]): FeedItem[] {
  const byKey = new Map(items.map((item) => [item.key, item]));
  return [...byKey.values()].sort((a, b) => b.time - a.time).slice(0, MAX_SHOWN);
}

export function feedOf(hires: readonly MarketHire[], changes: readonly MarketTierChange[]): FeedItem[] {
  return mergeFeed([
    ...hires.map(
      (it): FeedItem => ({
        kind: "hire",
        key: `hire ${it.id}`,
        id: it.id,
        time: it.time,
        seller: it.sellerAddress,
        buyer: it.buyerAddress,
        capability: it.capability,
        price: it.priceUsdc,
        outcome: it.outcome,
      }),
    ),
    ...changes.map(
      (it): FeedItem => ({
        kind: "tier",
        key: `tier ${it.agentAddress} ${it.time} ${it.to}`,
        time: it.time,
        agent: it.agentAddress,
        from: it.from,
        to: it.to,
      }),
    ),
  ]);
}

/**
 * Adds an event of the stream to the lines that the stream told before. A reorganisation takes back the lines after its
 * position.
 *
 * @param item the line of the event, if it has one
 */
export function toldAfter(
  told: readonly ToldItem[],
  { type, position }: StreamEvent,
  item: FeedItem | undefined,
): ToldItem[] {
  if (type === "reorg") return told.filter((it) => it.position <= position);
  if (item === undefined) return [...told];
  return [{ position, item }, ...told.filter((it) => it.item.key !== item.key)].slice(0, MAX_SHOWN);
}

/**
 * Makes a line from an event of the stream; undefined if the page does not show such events, or the event is
 * malformed.
 */
export function feedItemOf({ type, data }: StreamEvent): FeedItem | undefined {
  const text = (name: string): string => (typeof data[name] === "string" ? data[name] : "");
  const number = (name: string): number => (Number.isFinite(data[name]) ? (data[name] as number) : 0);
  const areAgents = (...names: string[]): boolean =>
    names.every((name) => /^0x[0-9a-f]{40}$/.test(text(name)));
  const time = number("time");
  if (type === "hire" && areAgents("seller", "buyer")) {
    return {
      kind: "hire",
      key: `hire ${text("id")}`,
      id: text("id"),
      time,
      seller: text("seller"),
      buyer: text("buyer"),
      capability: text("capability") || null,
      price: text("price_usdc"),
      outcome: text("outcome"),
    };
  }
  const stars = number("stars");
  if (type === "rating" && areAgents("rater", "ratee") && stars >= 0 && stars <= 5) {
    const key = `rating ${text("receipt")} ${text("side")}`;
    return { kind: "rating", key, time, rater: text("rater"), ratee: text("ratee"), stars };
  }
  if (type === "tier_change" && areAgents("agent")) {
    const to = number("to");
    const key = `tier ${text("agent")} ${time} ${to}`;
    return { kind: "tier", key, time, agent: text("agent"), from: number("from"), to };
  }
  return undefined;
}
