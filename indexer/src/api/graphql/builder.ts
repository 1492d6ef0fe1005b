import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";

/** The code-first GraphQL schema is collected here; the modules beside it add their types and queries. */
export const builder = new SchemaBuilder<{
  Context: QueryContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    Address: { Input: string; Output: string };
    BigInt: { Input: bigint; Output: bigint };
    SafeInt: { Input: number; Output: number };
    Usdc: { Input: string; Output: string };
  };
}>({
  plugins: [RelayPlugin],
  defaultFieldNullability: false,
  relay: {
    cursorType: "String",
    nodesOnConnection: true,
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    edgesFieldOptions: { nullable: { list: false, items: false } },
    nodeFieldOptions: { nullable: false },
  },
});

builder.queryType({
  description: "What this node has derived from the chain and the anchored ledgers, as of its last tick.",
});

builder.scalarType("Address", {
  description:
    "A wallet or contract: 0x and 40 hex digits. Answers are in lower case; questions may be in any.",
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase();
    throw queryError("INVALID_ARGUMENT", "An address is 0x and 40 hex digits.");
  },
});

builder.scalarType("BigInt", {
  description: "An integer of any size, as a decimal string.",
  serialize: (value) => String(value),
  parseValue: (value) => {
    if (typeof value === "string" && /^-?[0-9]{1,78}$/.test(value)) return BigInt(value);
    throw queryError("INVALID_ARGUMENT", "A BigInt is a string of decimal digits.");
  },
});

builder.scalarType("SafeInt", {
  description: "A whole number within ±(2^53 − 1): a block number, or a time in unix seconds.",
  serialize: (value) => value,
  parseValue: (value) => {
    if (Number.isSafeInteger(value)) return value as number;
    throw queryError("INVALID_ARGUMENT", "A SafeInt is a whole number within ±(2^53 − 1).");
  },
});

builder.scalarType("Usdc", {
  description:
    'An amount of USDC as an exact decimal string, such as "0.50": at least two decimals, at most six.',
  serialize: (value) => value,
});
