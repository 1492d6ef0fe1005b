import { hasZone, isDayOf, isFresh, isoSeconds } from "../checks/instants.ts";
import {
  formsOf,
  isRegion,
  isSamePlace,
  isState,
  mayBeRegion,
  placeName,
  plain,
  regionsAgree,
} from "../checks/samePlace.ts";
import { countWords, endsSentence, normalizedForm } from "../checks/textMeasures.ts";
import { type Check, type CheckContext, defineCapability } from "../defineCapability.ts";

/** What is asked; `asked_at`, unix seconds, lets the age of an answer be checked without a clock. */
const input = {
  type: "object",
  properties: {
    location: { type: "string", minLength: 2, maxLength: 200 },
    date: { type: "string", format: "date" },
    asked_at: { type: "integer", minimum: 1_577_836_800 },
  },
  required: ["location"],
  additionalProperties: false,
} as const;

const readingProperties = {
  location: { type: "string", minLength: 1, maxLength: 200 },
  observed_at: { type: "string", maxLength: 40 },
  temperature_c: { type: "number" },
  conditions: { type: "string", minLength: 1, maxLength: 200 },
  humidity_percent: { type: "number" },
  wind_speed_ms: { type: "number" },
} as const;
const required = ["location", "observed_at", "temperature_c", "conditions"] as const;

type Asked = { location: string; date?: string; asked_at?: number };
type Reading = {
  location: string;
  observed_at: string;
  temperature_c: number;
  conditions: string;
  humidity_percent?: number;
  wind_speed_ms?: number;
};

/** The lowest and highest temperature and the strongest wind ever measured, with a small margin (°C, m/s). */
const [COLDEST, HOTTEST, STRONGEST] = [-92, 58, 115];

/** How old a reading of the present may be, in seconds. */
const MAX_AGE = 6 * 3600;

/** Whether a reading of the present is fresh. A time without a zone is the local time of some zone. */
function isFreshAnywhere(observedAt: string, askedAt: number | undefined): boolean {
  const time = isoSeconds(observedAt) ?? 0;
  if (hasZone(observedAt) || askedAt === undefined) return isFresh(time, askedAt, MAX_AGE);
  return time >= askedAt - 12 * 3600 - MAX_AGE && time <= askedAt + 14 * 3600 + MAX_AGE;
}

/** Whether a text has a word. Rain, snow and sun are one sign in Chinese, Japanese and Korean. */
function hasWord(text: string): boolean {
  return /[\p{L}\p{M}]{3}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(
    normalizedForm(text, "NFC"),
  );
}

/** The checks of a weather reading. `readingOf` finds the reading in the output. */
function readingChecks<Output>(readingOf: (output: Output) => Reading): {
  [name: string]: Check<Asked, Output>;
} {
  const check = (since: "v0" | "v1", complaint: (asked: Asked, reading: Reading) => string | undefined) => ({
    since,
    test: (context: CheckContext<Asked, Output>) => complaint(context.input, readingOf(context.output)),
  });
  return {
    has_a_time: check("v0", (_asked, { observed_at }) =>
      isoSeconds(observed_at) === undefined ? "has no ISO 8601 time of observation" : undefined,
    ),
    is_possible: check("v0", (_asked, reading) => {
      const { temperature_c, humidity_percent = 50, wind_speed_ms = 0 } = reading;
      if (!(temperature_c >= COLDEST && temperature_c <= HOTTEST)) return `${temperature_c} °C is impossible`;
      if (!(humidity_percent >= 0 && humidity_percent <= 100))
        return `${humidity_percent} % humidity is impossible`;
      return wind_speed_ms >= 0 && wind_speed_ms <= STRONGEST
        ? undefined
        : `${wind_speed_ms} m/s is impossible`;
    }),
    is_of_the_asked_place: check("v1", (asked, { location }) =>
      isSamePlace(location, asked.location) ? undefined : `is of ${location}`,
    ),
    is_of_the_asked_day: check("v1", (asked, { observed_at }) =>
      asked.date === undefined || isDayOf(observed_at, asked.date) ? undefined : `is of ${observed_at}`,
    ),
    is_fresh: check("v1", (asked, { observed_at }) =>
      asked.date !== undefined || isFreshAnywhere(observed_at, asked.asked_at)
        ? undefined
        : `is of ${observed_at}`,
    ),
    agrees_with_itself: check("v1", (_asked, { conditions, temperature_c }) => {
      if (!hasWord(conditions)) return "has no words for the conditions";
      if (/(?<!\bno )\b(snow|sleet|blizzard)/i.test(conditions) && temperature_c > 12)
        return `snow at ${temperature_c} °C`;
      const isHot = /\b(hot|heat|scorching)\b/i.test(conditions);
      return isHot && temperature_c < 15 ? `heat at ${temperature_c} °C` : undefined;
    }),
  };
}

/** `data.lookup.weather.json`, and `data.lookup.weather` for short. */
export const dataLookupWeatherJson = defineCapability({
  id: "data.lookup.weather.json",
  summary: "the weather at a place, as JSON",
  input,
  output: { type: "object", properties: readingProperties, required },
  checks: readingChecks<Reading>((output) => output),
});

/** `data.lookup.weather.geojson`: a feature (RFC 7946) whose point is the place. */
export const dataLookupWeatherGeojson = defineCapability({
  id: "data.lookup.weather.geojson",
  summary: "the weather at a place, as a GeoJSON feature",
  input,
  output: {
    type: "object",
    properties: {
      type: { const: "Feature" },
      geometry: {
        type: "object",
        properties: {
          type: { const: "Point" },
          coordinates: { type: "array", minItems: 2, maxItems: 3, items: { type: "number" } },
        },
        required: ["type", "coordinates"],
      },
      properties: { type: "object", properties: readingProperties, required },
    },
    required: ["type", "geometry", "properties"],
  },
  checks: {
    is_on_earth: {
      since: "v0",
      test: ({ output }) => {
        const [longitude = 999, latitude = 999] = output.geometry.coordinates;
        if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90)
          return `${longitude}, ${latitude} is nowhere`;
        return longitude === 0 && latitude === 0 ? "is at 0, 0: no place was found" : undefined;
      },
    },
    ...readingChecks<{ properties: Reading }>(({ properties }) => properties),
  },
});

/** A number with degrees. The unit is in one of the groups after the number, or it is not named. */
const TEMPERATURE =
  /(?<![\d.,])([-−–‑])?(\d{1,4}(?:[.,]\d{1,4})?)\s{0,4}(?:[°º˚]\s{0,4}([CF](?!\p{L}))?|([℃℉])|deg(?:rees?|\.)?(?!\p{L})(?:\s{1,4}(Celsius|Fahrenheit|[CF](?!\p{L})))?|(Celsius|Fahrenheit|[CF](?!\p{L})))/giu;

/** `c` or `f`; undefined if the text names no unit. */
function unitOf([, , , ...units]: RegExpExecArray): string | undefined {
  const unit = units.find((one) => one !== undefined);
  return unit === undefined ? undefined : /[f℉]/i.test(unit[0] as string) ? "f" : "c";
}

/**
 * Whether a number of degrees can be a temperature. Without a unit, the number may mean Celsius or Fahrenheit. Every
 * possible temperature in Celsius is also one in Fahrenheit.
 */
function mayBeTemperature(match: RegExpExecArray): boolean {
  const value = Number(match[2]?.replace(",", ".")) * (match[1] ? -1 : 1);
  const celsius = unitOf(match) === "c" ? value : ((value - 32) * 5) / 9;
  return celsius >= COLDEST && celsius <= HOTTEST;
}

/** The code of a state or country after a name without a comma: "Portland OR", "Portland OR 97201". */
const CODE_AFTER_NAME = /\s([A-Z]{2})(?:\s\d{5})?\s{0,9}$/;

/**
 * A state or country that stands directly after a name and is not the asked one: "Portland Maine has 12 °C". Codes are
 * not read, because two capital letters may also be a word or a wind: "PARIS IN THE RAIN", "Oslo SE wind".
 */
function regionAfter(text: string, names: string[], regions: string[]): string | undefined {
  const words = text.split(/\s+/);
  const bare = words.map(plain);
  for (const name of names) {
    const count = name.split(" ").length;
    for (let at = count; at < words.length; at++) {
      if (bare.slice(at - count, at).join(" ") !== name || !/[\p{L}\p{M}]$/u.test(words[at - 1] as string))
        continue;
      const other = [1, 2, 3]
        .map((one) => words.slice(at, at + one).join(" "))
        .find((one) => /^\p{Lu}\p{L}{3}/u.test(one) && !regionsAgree([one], regions));
      if (other !== undefined) return other;
    }
  }
  return undefined;
}

/** Signs and words after a name. Its state or country may follow them. */
const AFTER_NAME = /([,;:()–—]|\bin\b)/;

/**
 * A state or country that follows a name after a sign, as in "Paris, France" and "Paris (France)", and was not asked
 * for.
 */
function regionBeside(text: string, names: string[], regions: string[]): string | undefined {
  const pieces = text.split(AFTER_NAME).map((piece) => piece.trim());
  // In a text of capital letters, codes are also words: "PARIS, IT IS COLD".
  const isShouted = text === text.toUpperCase();
  for (let at = 2; at < pieces.length; at += 2) {
    const [before, sign, said] = [pieces[at - 2], pieces[at - 1], pieces[at]] as [string, string, string];
    if (!names.some((one) => ` ${plain(before)}`.endsWith(` ${one}`))) continue;
    const words = said.slice(0, 60).split(/\s+/);
    // After other signs, a region stands alone: "Oslo: SE wind" and "Paris: HI 12 °C" begin a report.
    const counts = sign === "," || sign === "in" ? [1, 2, 3] : [words.length];
    const isOther = counts
      .map((count) => words.slice(0, count).join(" "))
      .some((one) => mayBeRegion(one) && !(isShouted && one.length < 4) && !regionsAgree([one], regions));
    if (isOther) return said;
  }
  return undefined;
}

/** A name without the state or country after it: "Austin Texas", "paris france", "Portland OR 97201". */
function withoutRegion(name: string): string {
  const words = name.replace(CODE_AFTER_NAME, "").trim().split(/\s+/);
  for (const count of [3, 2, 1]) {
    if (words.length > count && isRegion(words.slice(-count).join(" ")))
      return words.slice(0, -count).join(" ");
  }
  return words.join(" ");
}

/** The names under which a text may speak of a place. Text is in English, so `Köln` is also Cologne. */
function namesOf(whole: string): string[] {
  const names = [whole, ...(isRegion(whole) ? [] : [withoutRegion(whole)])].flatMap((name) => {
    const [own, usual] = [plain(name), placeName(name)];
    const short = usual.replace(/ (?:city|am main|upon .*|on .*)$/, "");
    // Kansas is not Kansas City.
    return [own, usual, isState(short) ? usual : short].flatMap(formsOf);
  });
  // Nothing is left of a name that is only an unknown code: " HK".
  return [...new Set(names)].filter((one) => one !== "");
}

/** `data.lookup.weather.summary-text`: the weather in a sentence or two, in English. */
export const dataLookupWeatherText = defineCapability({
  id: "data.lookup.weather.summary-text",
  summary: "the weather at a place, in a sentence",
  input,
  output: {
    type: "object",
    properties: { text: { type: "string", maxLength: 4000 } },
    required: ["text"],
  },
  checks: {
    is_not_empty: {
      since: "v0",
      test: ({ output }) => (countWords(output.text) >= 4 ? undefined : "has fewer than four words"),
    },
    names_the_place: {
      since: "v1",
      test: ({ input: asked, output }) => {
        const [name = "", ...parts] = asked.location.split(",");
        const code = CODE_AFTER_NAME.exec(name)?.[1];
        const regions = code === undefined ? parts : [code, ...parts];
        // A text in English cannot repeat a name in another script, or coordinates.
        if (!/\p{Script=Latin}/u.test(name)) return undefined;
        const place = plain(name);
        const names = namesOf(name);
        if (!names.some((one) => ` ${plain(output.text)} `.includes(` ${one} `)))
          return `does not name ${place}`;
        const other = regionAfter(output.text, names, regions) ?? regionBeside(output.text, names, regions);
        return other === undefined ? undefined : `is of ${place} in ${other.slice(0, 60)}`;
      },
    },
    gives_a_temperature: {
      since: "v1",
      test: ({ output }) => {
        const found = Array.from(output.text.matchAll(TEMPERATURE));
        if (found.length === 0) return "gives no temperature in degrees";
        const wrong = found.find((match) => !mayBeTemperature(match) && unitOf(match) !== undefined);
        if (wrong) return `${wrong[0]} is impossible`;
        // Degrees without a unit may also be the direction of the wind, or coordinates.
        return found.some(mayBeTemperature) ? undefined : `${found[0]?.[0]} is impossible`;
      },
    },
    is_complete: {
      since: "v1",
      test: ({ output }) => (endsSentence(output.text) ? undefined : "stops within a sentence"),
    },
  },
});
