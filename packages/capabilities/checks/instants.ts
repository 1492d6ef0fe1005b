/**
 * 2020-01-01 and 2100-01-01 in unix seconds. A price that a seller looked up has a time between these two. A number
 * outside of them is wrong, or it is a time in milliseconds.
 */
const [FIRST, LAST] = [1_577_836_800, 4_102_444_800];

/** Whether a number can be the time of a price that a seller looked up, in unix seconds. */
export function isUnixSeconds(value: number): boolean {
  return Number.isInteger(value) && value >= FIRST && value < LAST;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?([Zz]|[+−-]\d\d(?::?\d\d)?)?)?$/;

/** Unix seconds of an ISO 8601 date or time; undefined for other text. A text without a zone is read as UTC. */
export function isoSeconds(text: unknown): number | undefined {
  const match = typeof text === "string" ? ISO.exec(text) : null;
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  // Date.UTC rolls over: 31 February would become 3 March.
  const date = new Date(Date.UTC(year, month - 1, day));
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  // Second 60 is a leap second. It is accepted in every minute.
  const isReal = isDay && hour < 24 && minute < 60 && second < 61;
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute, second);
  const [, sign = "+", hours = "0", minutes = "0"] = /^([+−-])(\d\d):?(\d\d)?$/.exec(match[7] ?? "") ?? [];
  const ahead = (Number(hours) * 3600 + Number(minutes) * 60) * (sign === "+" ? 1 : -1);
  return isReal ? milliseconds / 1000 - ahead : undefined;
}

/** Whether an ISO 8601 time names its zone. */
export function hasZone(text: string): boolean {
  return ISO.exec(text)?.[7] !== undefined;
}

/**
 * Whether a time can be on a day. A time without a zone, or with an offset other than 0, is local: its own date counts.
 * A time in UTC does not show the local date. At each moment, zones from UTC−12 to UTC+14 have two or three dates. The
 * day may be any of these.
 */
export function isDayOf(text: string, date: string): boolean {
  if (text.startsWith(date)) return true;
  const [time, start] = [isoSeconds(text), isoSeconds(date)];
  const isUtc = /^(?:z|[+−-]00(?::?00)?)$/i.test(ISO.exec(text)?.[7] ?? "");
  if (!isUtc || time === undefined || start === undefined) return false;
  return time >= start - 14 * 3600 && time < start + 36 * 3600;
}

/** The most seconds between a question and the time in its answer, before or after. A check may set another limit. */
export const MAX_AGE_SECONDS = 3600;

/**
 * Whether an answer from `time` is fresh enough for a question at `askedAt`; true if `askedAt` is unknown.
 */
export function isFresh(time: number, askedAt: number | undefined, maxAge = MAX_AGE_SECONDS): boolean {
  return askedAt === undefined || Math.abs(time - askedAt) <= maxAge;
}
