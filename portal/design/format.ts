/** How figures are written, the same on every page. */

/**
 * To format its first number and its first date, a browser loads tables. This takes as long as the first drawing of a
 * page. So formats are made when they are needed, or while the page waits for the node.
 */
const plain = later(() => new Intl.NumberFormat("en", { maximumFractionDigits: 2 }));
const rate = later(() => new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 }));
const dayOf = later(
  () => new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" }),
);
const local = later(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }));

function later<Format>(make: () => Format): () => Format {
  let made: Format | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Makes the formats of numbers and of local times soon. Each is made in its own task. */
export function prepareFormats(): void {
  setTimeout(() => plain().format(0));
  setTimeout(() => local().format(0));
}

const signs = /^-?\d+(?:\.\d+)?$/;

/** A number of this size or larger is written with an exponent. */
const MAX_WRITTEN = 1e15;

/** The most characters of an amount. */
const MAX_AMOUNT = 60;

/** The text for an unknown figure. */
export const NOTHING = "–";

/** A count or an average, with at most two decimals. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  // No real count is so large. Hundreds of digits would only push other text aside.
  return Math.abs(value) < MAX_WRITTEN ? plain().format(value) : Number(value).toExponential(2);
}

/**
 * Formats a share from 0 to 1 as a percentage. A share just below 1 is rounded down, so that only 1 itself
 * becomes 100 %.
 */
export function formatRate(value: number | null | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  if (Math.abs(value) >= MAX_WRITTEN) return formatNumber(value);
  return rate().format(value < 1 && value > 0.999 ? 0.999 : value);
}

/**
 * Formats an amount of USDC with grouped digits and at least two decimals, so that a column of amounts lines up. The
 * amount is a decimal string, and never becomes a floating-point number.
 */
export function formatAmount(usdc: string): string {
  // The time for grouping grows with the square of the number of digits. No real amount has so many digits.
  if (!signs.test(usdc) || usdc.length > MAX_AMOUNT) return plainText(String(usdc), 40);
  const [whole = "0", decimals] = usdc.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${grouped}.${(decimals ?? "").padEnd(2, "0")}`;
}

/** Formats milliseconds for people. */
export function formatLatency(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NOTHING;
  if (Math.abs(ms) >= MAX_WRITTEN) return formatNumber(ms);
  if (ms < 1_000) return `${plain().format(Math.round(ms))} ms`;
  return ms < 60_000 ? `${plain().format(ms / 1_000)} s` : `${plain().format(ms / 60_000)} min`;
}

/** Shortens a hash to the form `0x123456…abcd`. A text of at most 16 characters stays as it is. */
export function shortHash(hash: string): string {
  const text = plainText(hash, 200);
  return text.length > 16 ? `${text.slice(0, text.startsWith("0x") ? 8 : 6)}…${text.slice(-4)}` : text;
}

/** Formats a day in UTC (`2026-11-23`) in the reader's language. Other text becomes plain text, cut at 20 characters. */
export function formatDay(day: string | undefined): string {
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime()) ? plainText(day ?? "", 20) : dayOf().format(date);
}

/** Formats unix seconds as the reader's local date and time. */
export function formatTime(at: number): string {
  const date = new Date(at * 1_000);
  return Number.isNaN(date.getTime()) ? NOTHING : local().format(date);
}

/**
 * Formats the distance between a time and now in one unit: `5 min ago` or `in 5 min`. Both parameters are in unix
 * seconds.
 */
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
 * A JSON value as text. Every character that is invisible, or that changes the direction of the text around it, is
 * written as `\uXXXX`. Only the line breaks of the layout stay.
 */
export function visibleJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? "";
  return text.replace(UNSEEN, (it) => (it === "\n" ? it : escaped(it)));
}

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

function escaped(sign: string): string {
  const units = Array.from({ length: sign.length }, (_, at) => sign.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/**
 * A stranger's text as one safe line. It has no control characters, and no characters that change the direction of the
 * text around it. A letter has at most four marks, so that no mark covers other lines. A text with only invisible
 * characters becomes `(blank)`, so that a link with this text can be seen. Only the first `most` characters stay.
 */
export function plainText(text: string, most = 300): string {
  const line = text.replace(HIDDEN, " ").replace(/(\p{M}{4})\p{M}+/gu, "$1");
  if (text !== "" && line.trim() === "") return BLANK;
  // Half of a surrogate pair at the end would be drawn as a box.
  return line.length > most ? `${line.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

/**
 * Characters that draw nothing: control characters, empty characters (Unicode counts some of them as letters), and the
 * empty Braille pattern.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/** Replaces a text that has no visible character. */
const BLANK = "(blank)";

/** How a hire is paid (SHP §7.3.1), as words. */
export function formatMode(mode: string): string {
  if (mode === "direct") return "directly";
  return plainText(
    mode.replace(/^platform_escrow:/, "escrow ").replace(/^custom_escrow:/, "own escrow "),
    60,
  );
}

/**
 * A URL in the spelling of browsers. A host with letters beyond ASCII is written with `xn--`, so that it does not look
 * like a host with ASCII letters. Text that is not an http or https URL, or is too long, stays as it is.
 */
export function urlText(text: string): string {
  const url = text.length > MAX_URL ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : text;
}

/** The longest URL that is read. */
const MAX_URL = 2_000;
