import type { JsonSchema } from "tallystick-capabilities/schemaType";

/** The depth limit of a sample. Deeper parts are null, and then the sample usually does not fit. */
const MAX_DEPTH = 8;

/** The most items and characters of one value. */
const MAX_LENGTH = 1_000;

/**
 * The approximate limit of a sample in characters of JSON. The lengths of lists inside lists multiply, so a short
 * schema could ask for any amount of memory.
 */
const MAX_CHARACTERS = 4_096;

/**
 * Makes a small value for a simple schema: constants, enumerations, required properties, minimum lengths and
 * amounts. It cannot make values for patterns, and the parts of a large value that are above the limit are null. The
 * caller must check that the value fits.
 */
export function sampleOfSchema(schema: unknown): unknown {
  return sampleOf(schema, 0, { left: MAX_CHARACTERS });
}

/** What is left of the limit for the whole sample, in characters. */
type Room = { left: number };

function sampleOf(schema: unknown, depth: number, room: Room): unknown {
  room.left -= 2;
  if (schema === null || typeof schema !== "object" || depth > MAX_DEPTH || room.left < 0) return null;
  const it = schema as JsonSchema;
  if (Object.hasOwn(it, "const")) return given(it.const, room);
  for (const key of ["enum", "examples"])
    if (Array.isArray(it[key]) && it[key].length > 0) return given(it[key][0], room);
  for (const key of ["anyOf", "oneOf", "allOf"])
    if (Array.isArray(it[key]) && it[key].length > 0) return sampleOf(it[key][0], depth + 1, room);
  const type = Array.isArray(it.type) ? it.type[0] : (it.type ?? "object");
  const least = (key: string) => (typeof it[key] === "number" && it[key] > 0 ? Math.ceil(it[key]) : 0);
  switch (type) {
    case "string":
      return given(textOf(it.format, Math.min(MAX_LENGTH, Math.max(1, least("minLength")))), room);
    case "number":
    case "integer":
      return numberOf(it);
    case "boolean":
      return false;
    case "array":
      return Array.from({ length: Math.min(MAX_LENGTH, least("minItems")) }, () =>
        sampleOf(it.items, depth + 1, room),
      );
    case "object":
      return objectOf(it, depth, room);
    default:
      return null;
  }
}

/** Takes the length of a value from what is left. Returns the value, or null if too little is left. */
function given(value: unknown, room: Room): unknown {
  room.left -= JSON.stringify(value)?.length ?? 0;
  return room.left < 0 ? null : value;
}

function objectOf(
  { properties, required }: JsonSchema,
  depth: number,
  room: Room,
): { [key: string]: unknown } {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const of = (name: string) =>
    properties !== null && typeof properties === "object" && Object.hasOwn(properties, name)
      ? (properties as { [name: string]: unknown })[name]
      : {};
  // A name like __proto__ becomes an ordinary own property.
  return Object.fromEntries(
    names.slice(0, 100).map((name) => {
      room.left -= name.length;
      return [name, sampleOf(of(name), depth + 1, room)];
    }),
  );
}

function textOf(format: unknown, length: number): string {
  const known: { [format: string]: string } = {
    date: "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    uri: "https://example.com/",
    email: "a@example.com",
    uuid: "00000000-0000-4000-8000-000000000000",
  };
  return (typeof format === "string" ? known[format] : undefined) ?? "a".repeat(length);
}

function numberOf({ minimum, exclusiveMinimum, maximum }: JsonSchema): number {
  if (typeof minimum === "number") return Math.ceil(minimum);
  if (typeof exclusiveMinimum === "number") return Math.floor(exclusiveMinimum) + 1;
  return typeof maximum === "number" ? Math.min(1, Math.floor(maximum)) : 1;
}
