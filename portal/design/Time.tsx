import { formatAge } from "./format.ts";

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/**
 * When something happened, in unix seconds: how long ago, or the reader's date and hour; in UTC on hover. A chain's clock may be ahead
 * of the reader's: that is now.
 */
export function Time({ at, isDate = false }: { at: number; isDate?: boolean }) {
  const date = new Date(at * 1_000);
  const isValid = at > 0 && !Number.isNaN(date.getTime());
  if (!isValid) return <span>–</span>;
  const utc = date.toISOString();
  const now = Date.now() / 1_000;
  return (
    <time dateTime={utc} title={`${utc.replace("T", " ").replace(".000Z", "")} UTC`}>
      {isDate ? local.format(date) : formatAge(Math.min(at, now), now)}
    </time>
  );
}
