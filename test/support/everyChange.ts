/** One change of an input: the place, the kind of change, and the changed input. */
export type Change = { path: string; what: string; input: unknown };

type Step = string | number;

/** A longer string is changed at so many positions or more, and at less than twice as many. */
const POSITIONS = 12;

/**
 * Changes every field of an input, one at a time, at every depth. A text gets another character, or becomes shorter,
 * longer or empty. A number changes by one. Bytes change in one bit or in their length. A list becomes shorter, longer or
 * reversed. In input from strangers a field may also be missing, additional, null, or of another type.
 *
 * @param ofType whether a field must exist and keep its type, because a caller gives it in TypeScript
 */
export function* everyChange(
  input: unknown,
  ofType: (path: string) => boolean = () => false,
): Generator<Change> {
  yield* changesAt(input, [], input, ofType);
}

function* changesAt(
  root: unknown,
  path: Step[],
  value: unknown,
  ofType: (path: string) => boolean,
): Generator<Change> {
  const name = nameOf(path);
  const replaced = (what: string, by: unknown): Change => ({
    path: name,
    what,
    input: withValue(root, path, by),
  });
  const keepsType = ofType(name);
  for (const [what, by] of sameType(value)) yield replaced(what, by);
  if (path.length > 0 && !keepsType) {
    if (value !== null) yield replaced("null", null);
    yield replaced("of another type", typeof value === "string" ? 7 : "7");
    if (typeof path.at(-1) === "string") yield { path: name, what: "missing", input: without(root, path) };
  }
  if (Array.isArray(value)) {
    for (const [n, item] of value.entries()) yield* changesAt(root, [...path, n], item, ofType);
  } else if (isTree(value)) {
    if (!keepsType) yield replaced("with one more", { ...value, another: "field" });
    for (const [key, item] of Object.entries(value)) yield* changesAt(root, [...path, key], item, ofType);
  }
}

function* sameType(value: unknown): Generator<[what: string, by: unknown]> {
  if (typeof value === "string") {
    const every = Math.max(1, Math.floor(value.length / POSITIONS));
    for (let at = 0; at < value.length; at += every) yield [`other at ${at}`, withOther(value, at)];
    if (value.length > 0) {
      yield ["other at the end", withOther(value, value.length - 1)];
      yield ["cut", value.slice(0, -1)];
      yield ["empty", ""];
    }
    yield ["longer", `${value}0`];
  } else if (typeof value === "number") {
    yield ["one more", value + 1];
    yield ["one less", value - 1];
  } else if (typeof value === "bigint") {
    yield ["one more", value + 1n];
    if (value > 0n) yield ["one less", value - 1n];
  } else if (typeof value === "boolean") yield ["the other", !value];
  else if (value instanceof Uint8Array) {
    for (const at of [0, value.length >> 1, value.length - 1]) {
      yield [`a bit at ${at}`, value.map((byte, n) => (n === at ? byte ^ 1 : byte))];
    }
    yield ["shorter", value.slice(1)];
    yield ["longer", Uint8Array.of(...value, 0)];
  } else if (Array.isArray(value) && value.length > 0) {
    yield ["without the last", value.slice(0, -1)];
    yield ["with the last twice", [...value, value.at(-1)]];
    if (value.length > 1) yield ["the other way round", value.toReversed()];
  }
}

/** The text with another character of the same kind at a position, so that the field keeps its form if possible. */
function withOther(text: string, at: number): string {
  const other = (character: string): string => {
    if (/[0-8a-eA-Eg-yG-Y]/.test(character)) return String.fromCharCode(character.charCodeAt(0) + 1);
    if (/[9fFzZ]/.test(character)) return String.fromCharCode(character.charCodeAt(0) - 1);
    return "x";
  };
  return text.slice(0, at) + other(text.charAt(at)) + text.slice(at + 1);
}

function isTree(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function withValue(value: unknown, [step, ...rest]: Step[], by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value)) return value.map((item, n) => (n === step ? withValue(item, rest, by) : item));
  const tree = value as { [key: string]: unknown };
  return { ...tree, [step]: withValue(tree[step], rest, by) };
}

function without(value: unknown, [step, ...rest]: Step[]): unknown {
  if (step === undefined) return value;
  if (Array.isArray(value)) return value.map((item, n) => (n === step ? without(item, rest) : item));
  const { [step]: inner, ...others } = value as { [key: string]: unknown };
  return rest.length === 0 ? others : { ...others, [step]: without(inner, rest) };
}

function nameOf(path: Step[]): string {
  return path
    .map((step, n) => (typeof step === "number" ? `[${step}]` : n === 0 ? step : `.${step}`))
    .join("");
}
