/**
 * A number in a text, and every way to read it, as digits without separators. Two numbers are equal if one way to
 * read them is the same.
 */
export type NumberInText = { written: string; ways: string[] };

/** Words for powers of ten, by the number of zeros. A word may have different meanings in two languages. */
const SCALES: [zeros: number, words: string][] = [
  [2, "hundred hundert cent cento cien ciento cem honderd hundra hundre hundrede sto сто yüz 百 백"],
  [
    3,
    "thousand thousands tausend mille mila mil milhar millier milliers duizend tusen tusind tysiąc tysiące tysięcy тысяча тысячи тысяч тыс bin 千 천",
  ],
  [4, "万 萬 만"],
  [
    6,
    "million millions millionen mio milione milioni millón millones milhão milhões miljoen miljon miljoner millioner milion miliony milionów миллион миллиона миллионов млн milyon",
  ],
  [8, "億 亿 억"],
  [
    9,
    "billion billions milliard milliards milliarde milliarden mrd miliardo miliardi miljard miljarder milliarder miliard miliardy miliardów миллиард миллиарда миллиардов млрд milyar bilhão bilhões",
  ],
  [12, "trillion trillions billionen billón billones 兆 조"],
];
const ZEROS = new Map(SCALES.flatMap(([zeros, words]) => words.split(" ").map((word) => [word, zeros])));

/** The largest number that has a word of its own in these languages is a quintillion. */
const MAX_ZEROS = 18;

const SPACES = "\u00a0\u202f\u2009 ";
/**
 * Runs of digits with their separators, and runs of letters. Every Chinese or Japanese character is a word.
 */
const TOKEN = new RegExp(
  `\\d+(?:[.,:/'’٬٫${SPACES}]\\d+)*|[\\p{Script=Han}\\p{Script=Hangul}]|(?:(?![\\p{Script=Han}\\p{Script=Hangul}])\\p{L})+`,
  "gu",
);
const GROUPED = new RegExp(`^\\d{1,3}(?:([.,'’٬${SPACES}])\\d{3})(?:\\1\\d{3})*(?:[.,٫]\\d+)?$`, "u");
const INDIAN = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;
const DECIMAL = /^\d+[.,٫]\d+$/;

/**
 * The numbers of a text in order, in all common notations: other digits, separators and decimal signs
 * (1,234.50; 1.234,5; 1’234.50; 12,34,567), with words of scale (2.5 million, 250万). Dates and times are
 * split into their parts.
 */
export function numbersInText(text: string): NumberInText[] {
  const ascii = text.replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
  const found: NumberInText[] = [];
  /** The last number, and the zeros of the words that follow it. */
  let last:
    | { number: NumberInText; digits: string; fraction: number; zeros: number; end: number }
    | undefined;
  for (const { 0: token, index } of ascii.matchAll(TOKEN)) {
    if (/^\d/.test(token)) {
      for (const written of piecesOf(token)) {
        const { digits, fraction } = digitsOf(written);
        const number = { written, ways: waysOf(digits, fraction, 0) };
        found.push(number);
        last = { number, digits, fraction, zeros: 0, end: index + token.length };
      }
      continue;
    }
    const zeros = ZEROS.get(token.toLowerCase());
    if (zeros === undefined) {
      last = undefined;
      continue;
    }
    const isBeside = last !== undefined && ascii.slice(last.end, index).trim() === "";
    if (last && isBeside && last.zeros + zeros <= MAX_ZEROS) {
      last.zeros += zeros;
      last.end = index + token.length;
      last.number.ways.push(...waysOf(last.digits, last.fraction, last.zeros));
    } else {
      const number = { written: token, ways: waysOf("1", 0, zeros) };
      found.push(number);
      last = { number, digits: "1", fraction: 0, zeros, end: index + token.length };
    }
  }
  return found;
}

/**
 * The first number of `wanted` that is missing in `text`, as it is written. Numbers of less than three digits
 * are not checked: a text may spell them out, or change them with the clock format of a country.
 */
export function missingNumber(wanted: string, text: string): string | undefined {
  const known = new Set(numbersInText(text).flatMap(({ ways }) => ways));
  const clocks = clocksIn(text);
  const isKnown = ({ written, ways }: NumberInText): boolean =>
    ways.some((way) => known.has(way)) || asClock(written).some((time) => clocks.has(time));
  const missing = numbersInText(wanted).find(
    (number) => /^\d/.test(number.written) && (number.ways[0] as string).length >= 3 && !isKnown(number),
  );
  return missing?.written;
}

/** Splits a date, a list or a version into its numbers. */
function piecesOf(token: string): string[] {
  if (/^\d+$/.test(token) || GROUPED.test(token) || INDIAN.test(token) || DECIMAL.test(token)) return [token];
  // A space may separate two numbers, as in "in 2026 300 people".
  const parts = token.split(new RegExp(`[${SPACES}]`, "u"));
  if (parts.length > 1) return parts.flatMap(piecesOf);
  return token.split(/\D+/);
}

function digitsOf(written: string): { digits: string; fraction: number } {
  const digits = written.replace(/\D/g, "");
  const decimals = /[.,٫](\d+)$/.exec(written)?.[1] ?? "";
  // Three digits after the only kind of separator may be a group or a fraction.
  const isGroup = decimals.length === 3 && new Set(written.replace(/\d/g, "")).size === 1;
  return { digits, fraction: isGroup ? 0 : decimals.length };
}

/** The digits without the zeros at the end of a fraction, multiplied by the scale. */
function waysOf(digits: string, fraction: number, zeros: number): string[] {
  const bare = digits.replace(/^0+(?=\d)/, "");
  const ways = [bare];
  if (fraction > 0) {
    const whole = bare.slice(0, -fraction);
    const trimmed = `${whole}${bare.slice(-fraction).replace(/0+$/, "")}`;
    if (trimmed !== "") ways.push(trimmed);
  }
  if (zeros >= fraction && zeros > 0) ways.push(`${bare}${"0".repeat(zeros - fraction)}`);
  return ways;
}

/** The clock times in a text, as 14:30. Other countries write 14h30. */
function clocksIn(text: string): Set<string> {
  const times = text.matchAll(/(?<!\d)(\d{1,2})(?::| ?h ?)(\d\d)(?!\d)/g);
  return new Set(Array.from(times, ([, hour, minute]) => `${Number(hour)}:${minute}`));
}

/** "14.30" may be a time too: 14:30, or 2:30. */
function asClock(written: string): string[] {
  const match = /^(\d{1,2})\.(\d\d)$/.exec(written);
  const [hour, minute] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || hour > 23 || minute > 59) return [];
  return [`${hour}:${match[2]}`, `${hour % 12 || 12}:${match[2]}`];
}

/** In Unicode the ten digits of a script follow one another, zero first. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0x30;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return code - zero;
}
