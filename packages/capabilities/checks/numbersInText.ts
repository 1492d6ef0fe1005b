import { digitOf, splitCompound } from "./spelledDigits.ts";
import { normalizedForm } from "./textMeasures.ts";

/**
 * A number in a text, and every way to read it, as digits without separators. Two numbers are equal if one way to
 * read them is the same.
 */
export type NumberInText = { written: string; ways: string[] };

/** Words for powers of ten, by the number of zeros. A word may have different meanings in two languages. */
const SCALES: [zeros: number, words: string][] = [
  [
    2,
    "hundred hundert cent cento cien ciento cem honderd hundra hundre hundrede cientos cientas centos centas sto сто yüz sata sataa száz sută sute trăm ratus 百 백",
  ],
  [
    3,
    "thousand thousands tausend mille mila mil milhar millier milliers duizend tusen tusind tysiąc tysiące tysięcy тысяча тысячи тысяч тыс bin k tsd tys tuhat tuhatta tisíc tisíce tisíců ezer mie mii ribu nghìn ngàn хиляди хиляда тисяча тисячі тисяч тис χίλια χιλιάδες אלף אלפים ألف آلاف हज़ार हजार 千 천",
  ],
  [4, "万 萬 만"],
  [5, "lakh lakhs लाख"],
  [
    6,
    "m mn mln mi million millions millionen mio milione milioni millón millones milhão milhões miljoen miljon miljoner millioner milion miliony milionów миллион миллиона миллионов млн milyon miljoona miljoonaa miljoonan milionů millió milioane milhoes juta triệu мільйон мільйони мільйонів милион милиона εκατομμύριο εκατομμύρια מיליון مليون ملايين मिलियन",
  ],
  [7, "crore crores करोड़"],
  [8, "億 亿 억"],
  [
    9,
    "b bn mld mia mdr md mds bi billion billions milliard milliards milliarde milliarden mrd miliardo miliardi miljard miljarder milliarder miliard miliardy miliardów миллиард миллиарда миллиардов млрд milyar bilhão bilhões miljardi miljardia miliarda miliardu milliárd miliarde tỷ мільярд мільярди мільярдів милиард милиарда δισεκατομμύριο δισεκατομμύρια מיליארד مليار مليارات",
  ],
  [12, "tn triliun trillion trillions billionen billón billones 兆 조"],
];
const ZEROS = new Map(
  SCALES.flatMap(([zeros, words]) => words.split(" ").map((word) => [word.normalize("NFC"), zeros])),
);
/** Short forms, which are other words if no number stands before them. */
const SHORT_FORMS = new Set("k m mn mi b bn bi tn mia mie md mds mdr tys tsd тис тыс".split(" "));
/** In these languages a large number has several parts: 1億2500万 is 125,000,000. */
const MYRIADS = /^[万萬만億亿억兆조]$/u;

/** The largest number that has a word of its own in these languages is a quintillion. */
const MAX_ZEROS = 18;

const SPACES = "\u00a0\u202f\u2009 ";
/**
 * Runs of digits with their separators, and runs of letters. Every Chinese or Japanese character is a word.
 */
const TOKEN = new RegExp(
  `\\d+(?:[.,:/'’٬٫${SPACES}]\\d+)*|[\\p{Script=Han}\\p{Script=Hangul}]|(?:(?![\\p{Script=Han}\\p{Script=Hangul}])[\\p{L}\\p{M}])+`,
  "gu",
);
const GROUPED = new RegExp(`^\\d{1,3}(?:([.,'’٬${SPACES}])\\d{3})(?:\\1\\d{3})*(?:[.,٫]\\d+)?$`, "u");
const INDIAN = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;
const DECIMAL = /^\d+[.,٫]\d+$/;

/**
 * The numbers of a text in order, in all common notations: other digits, separators and decimal signs
 * (1,234.50; 1.234,5; 1’234.50; 12,34,567), with words of scale (2.5 million, 250万, three hundred). Dates and times
 * are split into their parts.
 */
export function numbersInText(text: string): NumberInText[] {
  const ascii = normalizedForm(text, "NFC").replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
  const found: NumberInText[] = [];
  /** The last number, the zeros of the words that follow it, and the larger parts that stand before it. */
  let last:
    | {
        number: NumberInText;
        digits: string;
        fraction: number;
        zeros: number;
        end: number;
        before: string | undefined;
      }
    | undefined;
  /** The value of the last number, if a smaller part may follow it. */
  let larger: string | undefined;
  /** The digit of the last word, if it is one: "three" of "three hundred". */
  let spelled: string | undefined;
  for (const { 0: token, index } of ascii.matchAll(TOKEN)) {
    const isBeside = last !== undefined && ascii.slice(last.end, index).trim() === "";
    const digit = spelled;
    spelled = undefined;
    if (/\d/.test(token)) {
      const before = isBeside ? larger : undefined;
      larger = undefined;
      for (const written of piecesOf(token)) {
        const { digits, fraction } = digitsOf(written);
        const number = { written, ways: waysOf(digits, fraction, 0) };
        found.push(number);
        last = { number, digits, fraction, zeros: 0, end: index + token.length, before };
        addParts(last);
      }
      continue;
    }
    const word = token.toLowerCase();
    const [first, scale] = ZEROS.has(word) ? ["", word] : splitCompound(word);
    const zeros = ZEROS.get(scale);
    if (zeros === undefined || (!isBeside && SHORT_FORMS.has(word))) {
      last = undefined;
      spelled = digitOf(word);
      continue;
    }
    if (last && isBeside && first === "" && last.zeros + zeros <= MAX_ZEROS) {
      last.zeros += zeros;
      last.end = index + token.length;
      last.number.ways.push(...waysOf(last.digits, last.fraction, last.zeros));
      const sum = addParts(last);
      if (MYRIADS.test(token) && last.fraction === 0) larger = sum;
    } else {
      const digits = first || digit || "1";
      const ways = waysOf(digits, 0, zeros);
      // "to" means two in Norwegian and may be another word in English, so "to thousands" is read in both ways.
      if (first === "" && digit !== undefined) ways.push(...waysOf("1", 0, zeros));
      const number = { written: token, ways };
      found.push(number);
      last = { number, digits, fraction: 0, zeros, end: index + token.length, before: undefined };
    }
  }
  return found;
}

/**
 * Adds a number to the larger parts before it, stores the sum as one way to read the number, and returns the sum: 1億
 * and 2500万 are 125,000,000.
 */
function addParts(part: {
  number: NumberInText;
  digits: string;
  fraction: number;
  zeros: number;
  before: string | undefined;
}): string {
  const own = `${part.digits.replace(/^0+(?=\d)/, "")}${"0".repeat(part.zeros)}`;
  if (part.before === undefined || part.fraction > 0) return own;
  const rest = part.before.slice(0, -own.length);
  // The larger part ends with as many zeros as the smaller part has digits.
  if (!/^0+$/.test(part.before.slice(-own.length))) return own;
  part.number.ways.push(`${rest}${own}`);
  return `${rest}${own}`;
}

/**
 * The first number of `wanted` that is missing in `text`, as it is written. Numbers of less than three digits
 * are not checked: a text may spell them out, or change them with the clock format of a country.
 */
export function missingNumber(wanted: string, text: string): string | undefined {
  const known = new Set(numbersInText(text).flatMap(({ ways }) => ways));
  const decades = decadesIn(wanted);
  const clocks = clocksIn(text);
  const marked = markedClocksIn(wanted);
  const isKnown = ({ written, ways }: NumberInText): boolean =>
    ways.some((way) => known.has(way)) ||
    (decades.has(written) && known.has(written.slice(2))) ||
    [...asClock(written), ...(marked.get(written) ?? [])].some((time) => clocks.has(time));
  const missing = numbersInText(wanted).find(
    (number) => /\d/.test(number.written) && (number.ways[0] as string).length >= 3 && !isKnown(number),
  );
  return missing?.written;
}

/** The decades of a text: 1980s, 1980er, 1980-х. In many languages the usual translation is "the 80s". */
function decadesIn(text: string): Set<string> {
  const found = text.matchAll(/(?<!\d)(?:1[5-9]|20)\d0(?=['’]?s\b|ern?\b|-\p{L})/gu);
  return new Set(Array.from(found, ([year]) => year));
}

/** Splits a date, a list or a version into its numbers. */
function piecesOf(token: string): string[] {
  if (GROUPED.test(token) || INDIAN.test(token) || DECIMAL.test(token)) return [token];
  // A space may separate two numbers, as in "in 2026 300 people".
  const parts = token.split(new RegExp(`[${SPACES}]`));
  if (parts.length > 1) return parts.flatMap(piecesOf);
  return token.split(/\D/);
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
    const trimmed = `${whole}${bare.slice(-fraction).replace(/(?<!0)0+$/, "")}`;
    if (trimmed !== "") ways.push(trimmed);
  }
  if (zeros >= fraction && zeros > 0) ways.push(`${bare}${"0".repeat(zeros - fraction)}`);
  return ways;
}

/** The clock times in a text, as 14:30. Other countries write 14h30, 14.30 Uhr, or 2.30 pm. */
function clocksIn(text: string): Set<string> {
  const times = text.matchAll(/(?<!\d)(\d{1,2})(?::| ?h ?)(\d\d)(?!\d)/g);
  return new Set([
    ...Array.from(times, ([, hour, minute]) => `${Number(hour)}:${minute}`),
    ...Array.from(markedClocksIn(text).values()).flat(),
  ]);
}

/** Times with a point that a word marks as times, as they are written, with the same times as 14:30 and 2:30. */
function markedClocksIn(text: string): Map<string, string[]> {
  const marked = text.matchAll(
    /(?<![\d.,])(\d{1,2})\.(\d\d)(?=\s?(?:([ap])\.?\s?m\b|uhr\b|uur\b))|\b(?:kl\.?|klo|alle|pukul|ore|ora)\s(\d{1,2})\.(\d\d)(?!\d)/gi,
  );
  return new Map(
    Array.from(marked, ([, early, minutes, half, late, others]) => {
      const [hour, minute] = [Number(early ?? late), minutes ?? others];
      const full = (hour % 12) + (half?.toLowerCase() === "p" ? 12 : 0);
      const hours = new Set([hour, hour % 12 || 12, ...(half === undefined ? [] : [full])]);
      return [`${early ?? late}.${minute}`, [...hours].map((one) => `${one}:${minute}`)];
    }),
  );
}

/** "14.30" may be a time too: 14:30, or 2:30. */
function asClock(written: string): string[] {
  const match = /^(\d{1,2})\.(\d\d)$/.exec(written);
  const [hour, minute] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || hour > 23 || minute > 59) return [];
  return [`${hour}:${match[2]}`, `${hour % 12 || 12}:${match[2]}`];
}

/** In Unicode the ten digits of a script follow one another, zero first. Some scripts follow one another too. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0x30;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return (code - zero) % 10;
}
