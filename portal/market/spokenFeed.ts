import { plainText } from "../design/format.ts";
import type { FeedItem } from "./feed.ts";

/** A busy market has several events a second. A reader hears of them at most this often, in milliseconds. */
const EVERY_MS = 20_000;

/**
 * Says the lines of the feed as they come. It says the first line at once. Later it says how many lines came meanwhile,
 * and the latest line.
 */
export function createSpokenFeed(
  say: (text: string) => void,
  everyMs = EVERY_MS,
): { add: (item: FeedItem) => void; stop: () => void } {
  let count = 0;
  let latest: FeedItem | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = () => {
    timer = latest === undefined ? undefined : setTimeout(next, everyMs);
    if (latest === undefined) return;
    say(count === 1 ? wordsOf(latest) : `${count} new. The latest: ${wordsOf(latest)}`);
    [count, latest] = [0, undefined];
  };
  return {
    add: (item) => {
      [count, latest] = [count + 1, item];
      if (timer === undefined) next();
    },
    stop: () => clearTimeout(timer),
  };
}

function wordsOf(item: FeedItem): string {
  if (item.kind === "hire")
    return `A hire${item.capability === null ? "" : ` of ${plainText(item.capability, 128)}`}: ${plainText(item.outcome, 40).toLowerCase()}.`;
  if (item.kind === "rating") return `A rating: ${item.stars} of 5 stars.`;
  return item.to > item.from ? "An agent was promoted." : "An agent was demoted.";
}
