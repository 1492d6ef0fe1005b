import { isCapability, isCustomCapability } from "tallystick-protocol/capability";
import { LANGUAGES } from "./languages.ts";
import type { PublishedVersion } from "./versions.ts";

/**
 * The names of a family of standard capabilities (SHP §5.1, §8.2), and nothing else. Its schemas and checks
 * are in `standard/`, so code that only needs the names loads no verifier.
 */
export type CapabilityFamily = {
  id: string;
  /** The patterns of its ids, in which `{name}` stands for one segment. */
  patterns: readonly string[];
  /** The allowed values of each placeholder. A placeholder that is not listed may have any segment. */
  values: { readonly [placeholder: string]: readonly string[] };
  /** The versions of its verification function, the oldest first. */
  versions: readonly PublishedVersion[];
};

/** Both versions that the families have so far; the second was published on 2026-11-20. */
const versions: readonly PublishedVersion[] = [
  { version: "v0", publishedAt: 0 },
  { version: "v1", publishedAt: 1_795_132_800 },
];

const PROGRAMMING_LANGUAGES =
  "python javascript typescript go rust java ruby php csharp swift kotlin c cpp solidity sql bash".split(" ");

const alone = <const Id extends string>(id: Id) => ({ id, patterns: [id], values: {}, versions }) as const;

/** Every family of the standard, in the order of lists. */
export const taxonomy = [
  alone("image.generate.photorealistic.png"),
  alone("image.generate.illustration.png"),
  alone("image.generate.illustration.svg"),
  {
    id: "image.upscale",
    patterns: ["image.upscale.{factor}"],
    values: { factor: ["2x", "4x"] },
    versions,
  },
  {
    id: "audio.transcribe.json-with-timestamps",
    patterns: ["audio.transcribe.json-with-timestamps", "audio.transcribe.{language}.json-with-timestamps"],
    values: { language: LANGUAGES },
    versions,
  },
  {
    id: "text.translate",
    patterns: ["text.translate.{source}.{target}", "text.translate.{source}.{target}.{level}"],
    values: {
      source: LANGUAGES,
      target: LANGUAGES,
      level: ["literal", "fluent", "business", "casual", "technical"],
    },
    versions,
  },
  {
    id: "text.summarize",
    patterns: ["text.summarize.{length}"],
    values: { length: ["short", "medium", "long"] },
    versions,
  },
  {
    id: "text.rewrite",
    patterns: ["text.rewrite.{style}"],
    values: { style: ["formal", "casual"] },
    versions,
  },
  alone("code.execute.sandboxed"),
  {
    id: "code.review",
    patterns: ["code.review", "code.review.{language}"],
    values: { language: PROGRAMMING_LANGUAGES },
    versions,
  },
  alone("data.extract.from-url"),
  {
    id: "data.lookup.weather.json",
    patterns: ["data.lookup.weather.json", "data.lookup.weather"],
    values: {},
    versions,
  },
  alone("data.lookup.weather.geojson"),
  alone("data.lookup.weather.summary-text"),
  alone("data.lookup.web-search"),
  alone("data.lookup.crypto-price"),
  alone("data.lookup.stock-price"),
  alone("chart.generate.from-data"),
  alone("compute.math.numeric"),
  {
    id: "compute.statistics",
    patterns: ["compute.statistics.{operation}"],
    values: { operation: ["mean", "median", "stddev", "variance", "percentile-95"] },
    versions,
  },
  { id: "embed.text", patterns: ["embed.text.{model}"], values: {}, versions },
  alone("classify.text.sentiment"),
  alone("classify.text.toxicity"),
] as const satisfies readonly CapabilityFamily[];

type Family = (typeof taxonomy)[number];

/** The name of a family: `text.translate`. */
export type FamilyId = Family["id"];

/** The patterns of all families: `image.upscale.{factor}`. */
export type FamilyPattern = Family["patterns"][number];

/** The family that has a pattern. */
export type FamilyOf<Pattern extends FamilyPattern> = Family extends infer One
  ? One extends { id: FamilyId; patterns: readonly (infer Own)[] }
    ? Pattern extends Own
      ? One["id"]
      : never
    : never
  : never;

/** The values that a placeholder of a family may have. */
export type FamilyValue<Id extends FamilyId, Placeholder extends string> =
  Extract<Family, { id: Id }> extends { values: { readonly [name in Placeholder]: readonly (infer Value)[] } }
    ? Value
    : never;

/** The family of that name. */
export function familyNamed(name: FamilyId): CapabilityFamily {
  return taxonomy.find(({ id }) => id === name) as CapabilityFamily;
}

/** A family, and the values of its placeholders in one id: `{source: "en", target: "it"}`. */
export type FoundFamily = { family: CapabilityFamily; parts: { [placeholder: string]: string } };

/** The family that an id belongs to, undefined when there is none. */
export function findFamily(id: string): FoundFamily | undefined {
  if (!isCapability(id)) return undefined;
  for (const { family, misfit, parts } of readings(id)) if (misfit === undefined) return { family, parts };
  return undefined;
}

/**
 * Why an id cannot be offered (SHP §5.1): it is not a standard capability and does not begin with `custom.`.
 * Undefined if it can be offered.
 */
export function capabilityProblem(id: string): { message: string; hint: string } | undefined {
  if (isCustomCapability(id) || findFamily(id)) return undefined;
  const [close] = readings(id);
  if (close?.misfit !== undefined) {
    const message = `is no standard capability: ${close.pattern} has no ${close.misfit} ${close.parts[close.misfit]}`;
    const values = close.family.values[close.misfit] ?? [];
    return { message, hint: `{${close.misfit}} is ${values.join(", ")}; other ids begin with custom.` };
  }
  const all: readonly CapabilityFamily[] = taxonomy;
  const isNear = ({ id: other }: CapabilityFamily) => other.split(".")[0] === id.split(".")[0];
  const offered = (all.some(isNear) ? all.filter(isNear) : all).flatMap(({ patterns }) => patterns);
  return {
    message: "is no standard capability, and does not begin with `custom.`",
    hint: `There is ${offered.join(", ")}; others begin with custom.`,
  };
}

/**
 * An id that has the shape of a pattern. `misfit` is the first placeholder with a value that the family does
 * not allow.
 */
type Reading = FoundFamily & { pattern: string; misfit: string | undefined };

function* readings(id: string): Generator<Reading, undefined> {
  const segments = id.split(".");
  for (const family of taxonomy as readonly CapabilityFamily[]) {
    for (const pattern of family.patterns) {
      const expected = pattern.split(".");
      if (expected.length !== segments.length) continue;
      const parts: { [placeholder: string]: string } = {};
      const isOfShape = expected.every((wanted, at) => {
        const placeholder = /^\{(\w+)\}$/.exec(wanted)?.[1];
        if (placeholder === undefined) return wanted === segments[at];
        parts[placeholder] = segments[at] as string;
        return true;
      });
      if (!isOfShape) continue;
      const misfit = Object.entries(parts).find(([name, value]) => {
        const allowed = family.values[name];
        return allowed !== undefined && !allowed.includes(value);
      })?.[0];
      yield { family, pattern, parts, misfit };
    }
  }
}
