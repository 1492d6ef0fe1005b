import { byPlace } from "./checkLogs.ts";
import { SourcesDisagreeError } from "./errors.ts";
import type { HistoryRead, TokenLog } from "./logPort.ts";

/**
 * Checks that two sources gave the same logs.
 *
 * @throws SourcesDisagreeError naming both and the first log in which they differ
 */
export function expectAgreement(
  [name, one]: [string, HistoryRead],
  [otherName, other]: [string, HistoryRead],
): void {
  const count = Math.max(one.logs.length, other.logs.length);
  for (let n = 0; n < count; n++) {
    const [a, b] = [one.logs[n], other.logs[n]];
    if (a !== undefined && b !== undefined && textOf(a) === textOf(b)) continue;
    const first = [a, b].filter((it) => it !== undefined).sort(byPlace)[0] as TokenLog;
    // If a source's next log comes later, it does not have this log.
    const shownAt = (log: TokenLog | undefined) =>
      log === undefined || byPlace(log, first) > 0 ? null : textOf(log);
    const place = `log ${first.log} of block ${first.block}`;
    const details = { [name]: shownAt(a), [otherName]: shownAt(b) };
    throw new SourcesDisagreeError(name, otherName, `first at ${place}`, details);
  }
  if (one.end?.block === other.end?.block && one.end?.hash !== other.end?.hash) {
    throw new SourcesDisagreeError(name, otherName, `in the hash of block ${one.end?.block}`, {
      [name]: one.end,
      [otherName]: other.end,
    });
  }
}

/** A log as text. The time is left out, because not every source gives it. */
function textOf({ time: _, ...log }: TokenLog): string {
  const entries = Object.entries(log).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, value]) => `${name}=${value}`).join(" ");
}
