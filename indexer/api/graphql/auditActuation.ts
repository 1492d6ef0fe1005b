import type { Row } from "tallystick-derive/tables";
import type { AuditActuation } from "tallystick-protocol/records/auditActuation";
import { validRecords } from "../rows/records.ts";
import { AuditRef } from "./audit.ts";
import { AuditReasonRef } from "./auditAssignment.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { EntryRef, entryOf } from "./ledger.ts";
import { listPage } from "./list.ts";
import { recordEvent } from "./recordEvent.ts";

/** A valid record, and its body, which is read only once. */
type Actuation = { record: Row<"record">; body: () => Promise<AuditActuation> };

const AuditDecision = builder.enumType("AuditDecision", {
  values: { ROLLBACK: { value: "rollback" }, DISMISS: { value: "dismiss" } } as const,
});

const AuditActuationRef = builder.objectRef<Actuation>("AuditActuation").implement({
  description:
    "An operator's decision on a hire that two auditors found bad, with its reasons (SHP §8.3.4.2).",
  fields: (t) => ({
    hash: t.string({ description: "Hash of its ledger entry.", resolve: ({ record }) => record.hash }),
    operator: t.field({ type: "Address", resolve: ({ record }) => record.signer }),
    auditedHire: t.id({ resolve: async ({ body }) => (await body()).hire }),
    audit: t.field({
      type: AuditRef,
      nullable: true,
      resolve: async ({ body }, _, { load }) => load.audit.load((await body()).hire),
    }),
    decision: t.field({ type: AuditDecision, resolve: async ({ body }) => (await body()).decision }),
    reasons: t.field({ type: [AuditReasonRef], resolve: async ({ body }) => (await body()).reasons }),
    block: t.field({ type: "SafeInt", resolve: ({ record }) => record.block }),
    time: t.field({
      type: "SafeInt",
      description: "When it was anchored.",
      resolve: ({ record }) => record.time,
    }),
    entry: t.field({ type: EntryRef, resolve: ({ record }) => entryOf(record) }),
  }),
});

const AuditActuationConnection = builder.connectionObject(
  { type: AuditActuationRef, name: "AuditActuationConnection" },
  { name: "AuditActuationEdge" },
);

builder.queryField("auditActuations", (t) =>
  t.connection(
    {
      description: "The operators' decisions on failed hires, the latest first.",
      type: AuditActuationRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: (_, args, context) =>
        listPage(args, context, validRecords("audit_actuation"), {
          toNode: (record): Actuation => {
            let body: Promise<AuditActuation> | undefined;
            return { record, body: () => (body ??= bodyOf(record, context)) };
          },
        }),
    },
    AuditActuationConnection,
  ),
);

async function bodyOf(record: Row<"record">, context: QueryContext): Promise<AuditActuation> {
  const event = await recordEvent(record, context);
  if (event === null) throw new Error(`The record ${record.id} is not in the log.`);
  return event.body as object as AuditActuation;
}
