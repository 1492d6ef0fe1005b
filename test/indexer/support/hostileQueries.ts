import fc from "fast-check";
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from "graphql";
import { graphqlSchema } from "../../../indexer/api/graphql/schema.ts";
import { cast, LEDGER } from "./apiStory.ts";

/** A request that only an attacker would send. */
export type Hostile = { family: string; query: string; variables?: Record<string, unknown> };

const times = (n: number, part: (n: number) => string) =>
  Array.from({ length: n }, (_, at) => part(at)).join(" ");
const nested = (n: number, open: string, close = "}") => `${open.repeat(n)} id ${close.repeat(n)}`;

/** Queries whose form is the attack: they are too deep, too wide, repeated too often, or circular. */
export const shapes: Hostile[] = [
  ...[5, 20, 100, 400].flatMap((n) => [
    { family: "deep", query: `{ ${nested(n, "hires { nodes { seller { ", "} } }")} }` },
    { family: "deep", query: `{ hires { nodes { ${nested(n, "seller { ... on Agent { ", "} }")} } } }` },
    { family: "deep", query: `{ node(id: "x") { ${nested(n, "... on Node { ")} } }` },
    {
      family: "deep",
      query: `{ __schema { types { ${nested(n, "fields { type { ", "} }").replace(" id ", " name ")} } } }`,
    },
    {
      family: "deep",
      query: `{ __type(name: "Agent") { ${nested(n, "fields { type { ", "} }").replace(" id ", " name ")} } }`,
    },
    {
      family: "deep",
      query: `{ agents(where: ${"{capability: ".repeat(n)}1${"}".repeat(n)}) { nodes { id } } }`,
    },
    {
      family: "deep",
      query: `{ agents(where: ${"[".repeat(n * 10)}${"]".repeat(n * 10)}) { nodes { id } } }`,
    },
    { family: "deep", query: "{".repeat(n * 20) },
    { family: "deep", query: `query (${"$a: [".repeat(n)}Int${"]".repeat(n)}) { meta { time } }` },
  ]),
  ...[50, 300, 2_000, 8_000].flatMap((n) => [
    { family: "wide", query: `{ ${times(n, () => "meta { time }")} }` },
    { family: "wide", query: `{ meta { ${times(n, () => "time block digest")} } }` },
    { family: "wide", query: `query (${times(n, (at) => `$v${at}: Int`)}) { meta { time } }` },
    { family: "wide", query: times(n, (at) => `query Q${at} { meta { time } }`) },
    { family: "aliased", query: `{ ${times(n, (at) => `a${at}: meta { time }`)} }` },
    {
      family: "aliased",
      query: `{ ${times(n, (at) => `a${at}: agents(first: 100) { nodes { listings(first: 100) { nodes { endpoint } } } }`)} }`,
    },
    { family: "directives", query: `{ meta ${times(n, () => "@include(if: true)")} { time } }` },
    { family: "directives", query: `{ meta ${times(n, (at) => `@d${at}`)} { time } }` },
    { family: "directives", query: `query ${times(n, () => "@skip(if: false)")} { meta { time } }` },
  ]),
  ...[1, 2, 10, 100].flatMap((n) => [
    {
      family: "circular",
      query: `{ ...F0 } ${times(n, (at) => `fragment F${at} on Query { meta { time } ...F${(at + 1) % n} }`)}`,
    },
    {
      family: "circular",
      query: `{ agents { nodes { ...F0 } } } ${times(n, (at) => `fragment F${at} on Agent { hires { nodes { seller { ...F${(at + 1) % n} } } } }`)}`,
    },
    {
      family: "doubling",
      query: `{ ...F0 } ${times(n, (at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`)} fragment F${n} on Query { meta { time } }`,
    },
    {
      family: "doubling",
      query: `{ agents { nodes { ...F0 } } } ${times(n, (at) => `fragment F${at} on Agent { cluster { members { nodes { ...F${at + 1} } } } hires { nodes { seller { ...F${at + 1} } } } }`)} fragment F${n} on Agent { id }`,
    },
  ]),
  ...[
    "{ agents(first: 100) { nodes { hires(first: 100) { nodes { receipt { entry { record { body } } } } } } } }",
    "{ agents(first: 100) { nodes { explain(field: SUCCESS_RATE) { hires(first: 100) { nodes { id } } } } } }",
    "{ agents(first: 100) { nodes { independence { buyerFamilies(first: 100) { nodes { family { members(first: 100) { nodes { tx } } } } } } } } }",
    "{ agents(first: 100) { nodes { independence { buyerFamilies { nodes { returned { account } } } unreceipted { totalCount } } } } }",
    `{ ${times(30, (at) => `a${at}: hires(first: 0) { totalCount }`)} }`,
    `{ ${times(29, (at) => `a${at}: fundingGraph(agent: "0x${"0".repeat(40)}", depth: 3) { edges { signals { members } } }`)} }`,
  ].map((query) => ({ family: "costly", query })),
  ...[
    "mutation { drop }",
    "mutation { __typename }",
    "subscription { meta { time } }",
    "",
    " ",
    "#",
    "null",
    "\u0000",
    "\ufeff{",
    "{ a: }",
    '{ agent(address: """',
    "query Q { meta { time } } query R { meta { time } }",
  ].map((query) => ({ family: "malformed", query })),
];

const INJECTIONS = [
  "'",
  "''; DROP TABLE agent; --",
  "') OR 1=1 --",
  '"; SELECT pg_sleep(30); --',
  "\\'; DELETE FROM hire; --",
  "$1",
  "%",
  "_%",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e",
  "🂡".repeat(100),
  "x".repeat(40_000),
  "0x",
  `0x${"f".repeat(40)}`,
  `0x${"F".repeat(64)}`,
  `0x${"0".repeat(64)}/0/0`,
  "clst_' UNION SELECT 1",
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "WyJhIl0",
  Buffer.from(JSON.stringify(["1", "'; DROP TABLE agent; --"])).toString("base64url"),
  Buffer.from(JSON.stringify(["9".repeat(15), "9".repeat(15), "\u0000"])).toString("base64url"),
  Buffer.from(JSON.stringify(["1e9", "NaN"])).toString("base64url"),
  Buffer.from(`${"[".repeat(5_000)}${"]".repeat(5_000)}`).toString("base64url"),
];
const NUMBERS = [
  -1,
  0,
  1,
  101,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e308,
  0.1,
  "1",
  "NaN",
  "Infinity",
];
const OTHERS = [null, true, [], [[]], {}, { a: 1 }, [null], ["'; --"]];

/** Every bad value in every argument and in every field of every filter of every query. */
export const injections: Hostile[] = Object.values(graphqlSchema.getQueryType()?.getFields() ?? {}).flatMap(
  (field) => {
    const returns = getNamedType(field.type);
    const selection =
      isObjectType(returns) && "edges" in returns.getFields()
        ? "{ totalCount nodes { __typename } }"
        : "{ __typename }";
    return field.args.flatMap((argument) => {
      const type = getNamedType(argument.type);
      const leaves: { leaf: GraphQLArgument | GraphQLInputField; wrap: (value: string) => string }[] =
        isInputObjectType(type)
          ? Object.values(type.getFields()).map((leaf) => ({
              leaf,
              wrap: (value) => `{ ${leaf.name}: ${value} }`,
            }))
          : [{ leaf: argument, wrap: (value) => value }];
      const others = field.args
        .filter((it) => it !== argument && isNonNullType(it.type))
        .map((it) => `${it.name}: ${sample(it)}`);
      return leaves.flatMap(({ leaf, wrap }) => {
        const args = [`${argument.name}: ${wrap("$v")}`, ...others].join(", ");
        const query = `query ($v: ${leaf.type}) { ${field.name}(${args}) ${selection} }`;
        return badValues(leaf).map((v) => ({
          family: "injection",
          query,
          variables: { v },
        }));
      });
    });
  },
);

/** Arguments that accept text get every kind of text. Other arguments get fewer texts, and all numbers. */
function badValues({ type }: GraphQLArgument | GraphQLInputField): unknown[] {
  const isText = ["ID", "String", "Address", "Capability"].includes(getNamedType(type).name);
  return isText
    ? [...INJECTIONS, ...NUMBERS.slice(0, 3), ...OTHERS]
    : [...INJECTIONS.slice(0, 4), ...NUMBERS, ...OTHERS];
}

function sample({ type }: GraphQLArgument): string {
  const name = getNamedType(type).name;
  if (name === "Address") return `"0x${"1".repeat(40)}"`;
  return name === "SafeInt" ? "0" : `"${LEDGER}"`;
}

const words = [
  "{",
  "}",
  "(",
  ")",
  "[",
  "]",
  ":",
  "...",
  "@include(if: $v)",
  "on",
  "Agent",
  "fragment",
  "F",
  "query",
  "$v",
  "!",
  "=",
  "null",
];
const names = [
  "agents",
  "hires",
  "nodes",
  "edges",
  "node",
  "first",
  "after",
  "where",
  "seller",
  "cluster",
  "members",
  "explain",
  "totalCount",
  "id",
  "1e9",
  "-1",
  '"x"',
  '"""',
  "__schema",
  "types",
];

/** Words of the language in any order. */
export const gibberish: fc.Arbitrary<Hostile> = fc
  .array(fc.constantFrom(...words, ...names), { minLength: 1, maxLength: 60 })
  .map((parts) => ({ family: "gibberish", query: `{ ${parts.join(" ")} }`, variables: { v: true } }));

const seeds = shapes
  .filter(({ query }) => query.length > 20 && query.length < 4_000)
  .map(({ query }) => query);

/** Queries with parts removed, repeated and swapped. */
export const mutants: fc.Arbitrary<Hostile> = fc
  .tuple(
    fc.constantFrom(
      ...seeds,
      "{ agents(first: 2, where: {minTrustTier: 1}) { edges { node { id hires { nodes { id } } } } } }",
    ),
    fc.array(fc.tuple(fc.nat(), fc.nat(40), fc.constantFrom("cut", "double", "swap")), {
      minLength: 1,
      maxLength: 5,
    }),
  )
  .map(([seed, changes]) => {
    let query = seed;
    for (const [at, length, kind] of changes) {
      const start = at % Math.max(1, query.length);
      const part = query.slice(start, start + length);
      const [before, behind] = [query.slice(0, start), query.slice(start + length)];
      query =
        kind === "cut"
          ? before + behind
          : kind === "double"
            ? before + part + part + behind
            : behind + part + before;
    }
    return { family: "mutant", query };
  });

/** Well-formed queries of any fields, with any depth and any arguments. No rule about the form can refuse them. */
export const wellFormed: fc.Arbitrary<Hostile> = fc.infiniteStream(fc.nat(0xffff)).map((numbers) => {
  const next = (below: number) => (numbers.next().value as number) % below;
  const query = `{ ${selectionOf("Query", 1 + next(11), next)} }`;
  return { family: "well formed", query };
});

function selectionOf(typeName: string, depth: number, next: (below: number) => number): string {
  const type = graphqlSchema.getType(typeName);
  if (isInterfaceType(type)) return `id __typename ${inner("Hire", depth, next)}`;
  if (!isObjectType(type)) return "";
  const fields = Object.values(type.getFields());
  const chosen = Array.from(
    { length: 1 + next(4) },
    () => fields[next(fields.length)] as GraphQLField<unknown, unknown>,
  );
  return chosen.map((field, at) => fieldText(field, at, depth, next)).join(" ");
}

function inner(type: string, depth: number, next: (below: number) => number): string {
  return `... on ${type} { ${depth <= 0 ? "__typename" : selectionOf(type, depth - 1, next)} }`;
}

function fieldText(
  field: GraphQLField<unknown, unknown>,
  at: number,
  depth: number,
  next: (below: number) => number,
): string {
  const returns = getNamedType(field.type);
  const args = field.args
    .filter((it) => isNonNullType(it.type) || next(3) === 0)
    .map((it) => `${it.name}: ${anyValue(it, next)}`);
  const call = `a${at}_${field.name}: ${field.name}${args.length > 0 ? `(${args.join(", ")})` : ""}`;
  if (isLeafType(returns)) return call;
  return `${call} { ${depth <= 1 ? "__typename" : selectionOf(returns.name, depth - 1, next)} }`;
}

function anyValue(
  { name, type }: GraphQLArgument | GraphQLInputField,
  next: (below: number) => number,
): string {
  const named = getNamedType(type);
  const pick = <T>(items: readonly T[]) => items[next(items.length)] as T;
  if (isEnumType(named)) return pick(named.getValues()).name;
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields()).filter(() => next(3) === 0);
    return `{ ${fields.map((it) => `${it.name}: ${anyValue(it, next)}`).join(", ")} }`;
  }
  const { busy, secret, ring, funder } = cast;
  if (named.name === "Address") return `"${pick([busy, secret, funder, ring[0]])}"`;
  if (named.name === "Capability") return pick(['"text.task0"', '"code.review"', '"no.such"']);
  if (named.name === "Usdc") return pick(['"0.5"', '"0"', '"999999999999"']);
  if (["Int", "SafeInt"].includes(named.name))
    return String(pick([0, 1, 3, 20, 100, name === "seq" ? 2 : 50]));
  if (named.name === "Float") return pick(["0", "0.9", "5", "-1"]);
  if (named.name === "Boolean") return pick(["true", "false"]);
  return JSON.stringify(pick([busy, LEDGER, `${LEDGER}/2`, `${LEDGER}@1`, "platform_escrow:*", "x"]));
}
