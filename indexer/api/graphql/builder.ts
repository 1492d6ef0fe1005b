import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import { parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";

/** The length of a list. It is an estimate if counting would read too many rows. */
export type ListCount = { count: number; isEstimate: boolean };

/** Collects the code-first GraphQL schema. The other modules of this folder add their types and queries. */
export const builder = new SchemaBuilder<{
  Context: QueryContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Connection: { countAll: () => Promise<ListCount> };
  Scalars: {
    ID: { Input: string; Output: string };
    Address: { Input: string; Output: string };
    Capability: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
    BigInt: { Input: bigint; Output: bigint };
    SafeInt: { Input: number; Output: number };
    /** Arguments are converted to atomic units. */
    Usdc: { Input: bigint; Output: string };
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

builder.globalConnectionField("totalCount", (t) =>
  t.field({
    type: "SafeInt",
    description:
      "The length of the whole list, computed only on request. Up to 10,000 it is counted; a longer list is estimated (see totalCountIsEstimate).",
    resolve: async ({ countAll }) => (await countAll()).count,
  }),
);

builder.globalConnectionField("totalCountIsEstimate", (t) =>
  t.boolean({
    description: "Whether totalCount is the database's estimate, to two digits, and not an exact count.",
    resolve: async ({ countAll }) => (await countAll()).isEstimate,
  }),
);

/** The direction of a list, if it differs from the list's own direction. */
export const OrderDirection = builder.enumType("OrderDirection", {
  description: "The direction of a list. The default is in the description of each list.",
  values: {
    ASC: {
      value: "asc",
      description: "The earliest or lowest first. Rows without a value come before all others.",
    },
    DESC: {
      value: "desc",
      description: "The latest or highest first. Rows without a value come after all others.",
    },
  } as const,
});

builder.queryType({
  description:
    "What this node has derived from the chain and the anchored ledgers. Windows, expiries and the digest are as of its last tick.",
});

builder.scalarType("Address", {
  description:
    "A wallet or contract: 0x and 40 hex digits. Answers are in lower case. Arguments may have any case.",
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase();
    throw queryError("INVALID_ARGUMENT", "An address is 0x and 40 hex digits.");
  },
});

builder.scalarType("Capability", {
  description: 'What an agent can be hired for, such as "text.translate.en.it".',
  serialize: (value) => value,
  parseValue: (value) => {
    const result = capabilitySchema.safeParse(value);
    if (result.success) return result.data;
    throw queryError("INVALID_ARGUMENT", "A capability is lower-case words with dots between them.");
  },
});

builder.scalarType("JSON", {
  description: "Any JSON value.",
  serialize: (value) => value,
  parseValue: () => {
    throw queryError("INVALID_ARGUMENT", "No argument takes the type JSON.");
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
    'An amount of USDC as an exact decimal string, such as "0.50": at most six decimals, and in answers at least two.',
  serialize: (value) => value,
  parseValue: (value) => {
    const result = priceUsdcSchema.safeParse(value);
    if (result.success) return parseUsdc(result.data);
    throw queryError("INVALID_ARGUMENT", 'An amount of USDC is a decimal string, such as "0.50".');
  },
});
