import type { Row } from "tallystick-derive/tables";
import { digestList } from "../rows/digests.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";

const DigestRef = builder.objectRef<Row<"digest">>("Digest").implement({
  description:
    "One hash over everything that was derived up to a tick. Nodes with the same parameters have the same digest.",
  fields: (t) => ({
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    digest: t.exposeString("digest", {
      description:
        "0x and the SHA-256 of `[root, stewardRoot, paramsVersion, block, time]` as RFC 8785 JSON. If there is an identityRoot, it comes after stewardRoot.",
    }),
    root: t.exposeString("root", { description: "Root of the tree of agents, clusters and audits, in hex." }),
    stewardRoot: t.exposeString("stewardRoot", {
      description: "Root of the tree of trust scores and SLAs, in hex. They never change the tree of agents.",
    }),
    identityRoot: t.exposeString("identityRoot", {
      nullable: true,
      description:
        "Root of the tree of ERC-8004's identities, in hex; null where no registry is read. Identities never change the other trees.",
    }),
    paramsVersion: t.field({ type: "SafeInt", resolve: ({ paramsVersion }) => paramsVersion }),
  }),
});

const DigestConnection = builder.connectionObject(
  { type: DigestRef, name: "DigestConnection" },
  { name: "DigestEdge" },
);

builder.queryField("digests", (t) =>
  t.connection(
    {
      description:
        "The digest of every tick, the latest first; `from` and `to` are blocks. A reorganization may still remove digests above the final block.",
      type: DigestRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        from: t.arg({ type: "SafeInt" }),
        to: t.arg({ type: "SafeInt" }),
      },
      resolve: (_, { from, to, ...args }, context) => listPage(args, context, digestList(from, to)),
    },
    DigestConnection,
  ),
);
