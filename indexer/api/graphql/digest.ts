import { and, gte, lte } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";

const DigestRef = builder.objectRef<Row<"digest">>("Digest").implement({
  description: "One hash over all that was derived up to a tick, equal on every node.",
  fields: (t) => ({
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    digest: t.exposeString("digest"),
    paramsVersion: t.field({ type: "SafeInt", resolve: ({ paramsVersion }) => paramsVersion }),
  }),
});

const DigestConnection = builder.connectionObject(
  { type: DigestRef, name: "DigestConnection" },
  { name: "DigestEdge" },
);

/** A block as the id of its tick's digest. */
const padded = (block: number) => String(Math.max(0, block)).padStart(12, "0");

builder.queryField("digests", (t) =>
  t.connection(
    {
      description:
        "The digest of every tick, the latest first; `from` and `to` are blocks. Those above finality may be taken back.",
      type: DigestRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        from: t.arg({ type: "SafeInt" }),
        to: t.arg({ type: "SafeInt" }),
      },
      resolve: (_, { from, to, ...args }, context) => {
        const { digest } = schema;
        return listPage(args, context, {
          table: digest,
          where: and(
            from == null ? undefined : gte(digest.id, padded(from)),
            to == null ? undefined : lte(digest.id, padded(to)),
          ),
          order: [digest.id],
          direction: "desc",
          toNode: (it) => it,
        });
      },
    },
    DigestConnection,
  ),
);
