import { formatAge, formatTime } from "./format.ts";

/**
 * Shows a time, given in unix seconds: how long ago it was, or the reader's local date and hour. Hovering
 * shows UTC. A chain's clock may be ahead of the reader's clock; then the time counts as now.
 */
export function Time({ at, isDate = false }: { at: number; isDate?: boolean }) {
  const date = new Date(at * 1_000);
  const isValid = at > 0 && !Number.isNaN(date.getTime());
  if (!isValid) return <span>–</span>;
  const utc = date.toISOString();
  const now = Date.now() / 1_000;
  return (
    <time dateTime={utc} title={`${utc.replace("T", " ").replace(".000Z", "")} UTC`}>
      {isDate ? formatTime(at) : formatAge(Math.min(at, now), now)}
    </time>
  );
}
