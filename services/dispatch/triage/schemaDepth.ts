/** Deeper levels are not counted. */
const DEEPEST = 32;

/** Keywords of JSON Schema whose schemas describe the same value. */
const SAME = ["anyOf", "oneOf", "allOf"];
/** Keywords whose schemas describe parts of the value. */
const NAMED = ["properties", "patternProperties"];
const INSIDE = [...NAMED, "items", "prefixItems", "additionalProperties"];

/**
 * The number of levels of objects and lists that a JSON Schema describes: 0 for a scalar, 1 for an object of scalars,
 * at most 32. References are not followed, because a schema may refer to itself.
 */
export function schemaDepth(schema: unknown): number {
  let level = expand([schema]);
  for (let depth = 0; depth < DEEPEST; depth++) {
    const containers = level.filter(isContainer);
    if (containers.length === 0) return depth;
    level = expand(containers.flatMap((it) => INSIDE.flatMap((keyword) => schemasAt(it, keyword))));
  }
  return DEEPEST;
}

type Schema = { [keyword: string]: unknown };

function isContainer(schema: Schema): boolean {
  return schema.type === "object" || schema.type === "array" || INSIDE.some((keyword) => keyword in schema);
}

/** The schemas with their alternatives. Alternatives inside alternatives are followed three levels deep. */
function expand(values: unknown[]): Schema[] {
  const all: Schema[] = [];
  let level = values.filter(isSchema);
  for (let turn = 0; turn < 4 && level.length > 0; turn++) {
    all.push(...level);
    level = level.flatMap((it) => SAME.flatMap((keyword) => schemasAt(it, keyword)));
  }
  return all;
}

function schemasAt(schema: Schema, keyword: string): Schema[] {
  const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  if (Array.isArray(value)) return value.filter(isSchema);
  if (!isSchema(value)) return [];
  return NAMED.includes(keyword) ? Object.values(value).filter(isSchema) : [value];
}

function isSchema(value: unknown): value is Schema {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
