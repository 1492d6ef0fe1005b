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
  const date = new Date(time);
  // Date.UTC rolls over: 31 February would become 3 March.
  const real =
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!real) return undefined;
  const zone = match[7] as string;
  if (zone === "Z") return time >= 0 ? time / 1000 : undefined;
  const offset = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  if (Number(zone.slice(1, 3)) > 23 || Number(zone.slice(-2)) > 59) return undefined;
  const seconds = time / 1000 - (zone.startsWith("-") ? -offset : offset) * 60;
  return seconds >= 0 ? seconds : undefined;
}
