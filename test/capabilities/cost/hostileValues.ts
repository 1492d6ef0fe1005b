import type { JsonSchema } from "tallystick-capabilities/schemaType";

/**
 * Fragments that cause backtracking in regular expressions when they are repeated: beginnings without an end,
 * repeated characters, and texts that almost match.
 */
export const FRAGMENTS = [
  "<a",
  "</a ",
  "<g>",
  "&#1",
  "{{",
  "a",
  "1",
  "1.",
  "1,1",
  " ",
  "\n",
  '"',
  "'",
  "@",
  "a@",
  "a.b@",
  "http://",
  "https://x.y",
  "#",
  ".)",
  "!)",
  "-",
  "print(",
  'print("',
  "/*",
  "(",
  "[",
  "漢",
  "ﷺ",
  "é",
  "٣",
  "\u{1F600}",
  "you are a complete ",
  "not ",
  "00:",
  "M0 0",
  "url( ",
  "data:image/png;base64,",
  "20",
  "AAAA",
] as const;

export type Place = {
  /** `params` or `output`, then the keys that lead to the place. */
  path: (string | number)[];
  kind: "text" | "list" | "map";
  /** The most characters or items that the schema allows. */
  most: number;
};

/**
 * Every place in a sample that has a text, a list or an object of variable size. The schema gives its largest size.
 */
export function placesIn(schema: JsonSchema, value: unknown, path: (string | number)[]): Place[] {
  const places: Place[] = [];
  if (schema.const !== undefined || schema.enum !== undefined) return [];
  if (typeof value === "string") {
    places.push({ path, kind: "text", most: Number(schema.maxLength ?? Number.POSITIVE_INFINITY) });
  } else if (Array.isArray(value)) {
    places.push({ path, kind: "list", most: Number(schema.maxItems ?? Number.POSITIVE_INFINITY) });
    if (value.length > 0)
      places.push(...placesIn((schema.items ?? {}) as JsonSchema, value[0], [...path, 0]));
  } else if (value !== null && typeof value === "object") {
    places.push({ path, kind: "map", most: Number.POSITIVE_INFINITY });
    const properties = (schema.properties ?? {}) as { [key: string]: JsonSchema };
    for (const [key, inner] of Object.entries(value)) {
      places.push(...placesIn(properties[key] ?? {}, inner, [...path, key]));
    }
  }
  return places;
}

/**
 * A copy of a sample with a large value at a place. A text is a repeated fragment. A list repeats its first item, or
 * has texts that begin with the fragment. An object gets many additional keys.
 */
export function withHostile(sample: unknown, place: Place, fragment: string, letters: number): unknown {
  const change = (value: unknown, [key, ...rest]: (string | number)[]): unknown => {
    if (key !== undefined) {
      const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as {
        [key: string]: unknown;
      };
      copy[key] = change(copy[key], rest);
      return copy;
    }
    if (place.kind === "text") return fragment.repeat(Math.ceil(letters / fragment.length)).slice(0, letters);
    const count = Math.max(1, Math.floor(letters / 8));
    if (place.kind === "map") {
      const many = Array.from({ length: count }, (_, at) => [`${fragment}${at}`, at]);
      return { ...(value as object), ...Object.fromEntries(many) };
    }
    const [first = fragment] = value as unknown[];
    return Array.from({ length: count }, (_, at) => (typeof first === "string" ? `${fragment}${at}` : first));
  };
  return change(sample, place.path);
}
