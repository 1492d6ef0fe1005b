/** How figures are written, the same on every page. */

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const rate = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const signs = /^-?\d+(?:\.\d+)?$/;

/** From here on a number is written with an exponent. */
const MAX_WRITTEN = 1e15;

/** The text for an unknown figure. */
export const NOTHING = "–";

/** A count or an average, with at most two decimals. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  // Nothing that is counted is as large: hundreds of digits would only push the rest aside.
  return Math.abs(value) < MAX_WRITTEN ? plain.format(value) : Number(value).toExponential(2);
}

/**
 * Formats a share from 0 to 1 as a percentage. A share just below 1 is rounded down, so that only 1 itself
 * becomes 100 %.
 */
export function formatRate(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  if (Math.abs(value) >= MAX_WRITTEN) return formatNumber(value);
  return rate.format(value < 1 && value > 0.999 ? 0.999 : value);
}

/**
 * Formats an amount of USDC, given as a decimal string, with grouped digits and at least two decimals, so that a column of
 * amounts lines up. It never becomes a floating-point number.
 */
export function formatAmount(usdc: string): string {
  if (!signs.test(usdc)) return plainText(String(usdc), 40);
  const [whole = "0", decimals] = usdc.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${grouped}.${(decimals ?? "").padEnd(2, "0")}`;
}

/** Formats milliseconds for people. */
export function formatLatency(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOTHING;
  if (Math.abs(ms) >= MAX_WRITTEN) return formatNumber(ms);
  if (ms < 1_000) return `${plain.format(Math.round(ms))} ms`;
  return ms < 60_000 ? `${plain.format(ms / 1_000)} s` : `${plain.format(ms / 60_000)} min`;
}

/** `0x1234…abcd`; short texts as they are. */
export function shortHash(hash: string): string {
  const text = plainText(hash, 200);
  return text.length > 16 ? `${text.slice(0, text.startsWith("0x") ? 8 : 6)}…${text.slice(-4)}` : text;
}

const dayOf = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });

/** A day in UTC, given as `2026-11-23`, in the reader's language; other text as it is. */
export function formatDay(day: string | undefined): string {
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime()) ? plainText(day ?? "", 20) : dayOf.format(date);
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The reader's local date and hour of a time in unix seconds. */
export function formatTime(at: number): string {
  const date = new Date(at * 1_000);
  return Number.isNaN(date.getTime()) ? NOTHING : local.format(date);
}

/** How long ago, or how long until, in one unit. Both in seconds. */
export function formatAge(time: number, now: number): string {
  const seconds = Math.abs(Math.round(now - time));
  if (seconds < 5) return "now";
  const units: [size: number, name: string][] = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const [size, name] = units.find(([size]) => seconds >= size) ?? [1, "s"];
  const text = `${Math.floor(seconds / size)} ${name}`;
  return time > now ? `in ${text}` : `${text} ago`;
}

/**
 * A stranger's text as one safe line, without control characters, without characters that change the
 * direction of the text around it, and with at most four marks on a letter, so that none covers other lines.
 */
export function plainText(text: string, most = 300): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").replace(/(\p{M}{4})\p{M}+/gu, "$1");
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** How a hire is paid (SHP §7.3.1), as words. */
export function formatMode(mode: string): string {
  if (mode === "direct") return "directly";
  return plainText(
    mode.replace(/^platform_escrow:/, "escrow ").replace(/^custom_escrow:/, "own escrow "),
    60,
  );
}
