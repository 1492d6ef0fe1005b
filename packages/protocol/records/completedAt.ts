const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Unix seconds (fractions dropped) of a `completed_at`; undefined when it is not a time. */
export function toSeconds(value: number | string): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const match = ISO.exec(value);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC makes 3 March of 31 February, and 1985 of the year 85. Then the time has another text.
  const text = `${value.slice(0, 16)}:${match[6] ?? "00"}.000Z`;
  if (new Date(time).toISOString() !== text) return undefined;
  const zone = match[7] as string;
  if (zone === "Z") return time >= 0 ? time / 1000 : undefined;
  const offset = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  if (Number(zone.slice(1, 3)) > 23 || Number(zone.slice(-2)) > 59) return undefined;
  const seconds = time / 1000 - (zone.startsWith("-") ? -offset : offset) * 60;
  return seconds >= 0 ? seconds : undefined;
}
