import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";

/** The result of `node(id)`: the object and the name of its type. */
type Found = { type: string; node: object };

type Finder = {
  /** The form of the type's ids, which differs from the forms of all other types. */
  form: RegExp;
  find: (id: string, context: QueryContext) => Promise<object | null> | object | null;
};

const finders = new Map<string, Finder>();
const types = new WeakMap<object, string>();

/**
 * Objects that a client can load again by id (Relay). Ids are the names that the chain, the ledger and the
 * REST API use. The ids of each type have their own form.
 */
export const NodeRef = builder.interfaceRef<object>("Node").implement({
  description:
    "Anything with an id. Agent: its address. Cluster: `clst_…`. Hire: `<tx>-<log>` or `<escrow>-hire`. Escrow: the digest of its terms. Receipt: the hash of its entry. Listing: `<agent>/<capability>/<mode>`. Breach: `brch_…`. Tier change: `<agent>/<n>`. Rating: `<receipt>/<side>`. Identity: its `agentId`. Ledger entry: `<ledger>/<seq>`. Checkpoint: `<ledger>@<seq>`.",
  fields: (t) => ({ id: t.id() }),
  resolveType: (value) => types.get(value as object),
});

/** Lets `node(id)` return a type's objects. */
export function registerNode(type: string, finder: Finder): void {
  finders.set(type, finder);
}

/** The object that has this id, or null. */
async function findNode(id: string, context: QueryContext): Promise<Found | null> {
  for (const [type, { form, find }] of finders) {
    if (!form.test(id)) continue;
    const node = await find(id, context);
    return node === null ? null : { type, node };
  }
  return null;
}

builder.queryField("node", (t) =>
  t.field({
    type: NodeRef,
    nullable: true,
    description: "Any object by its id.",
    args: { id: t.arg.id({ required: true }) },
    resolve: async (_, { id }, context) => {
      const found = await findNode(id, context);
      if (found === null) return null;
      types.set(found.node, found.type);
      return found.node;
    },
  }),
);
