import { drawNumber } from "tallystick-derive/audits/drawnPlaces";
import { sha256HexByNoble } from "tallystick-derive/sha256Hex";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { auditList } from "../rows/audits.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { AuditAssignmentRef, AuditVerdict, tickHash } from "./auditAssignment.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { plainText } from "./errors.ts";
import { HireRef } from "./hire.ts";
import { listPage } from "./list.ts";
import { ListingRef } from "./listing.ts";
import { NodeRef, registerNode } from "./node.ts";
import { ReceiptRef } from "./receipt.ts";

type Audit = Row<"audit">;
type Assignment = Row<"auditAssignment">;

export const AuditStatus = builder.enumType("AuditStatus", {
  values: {
    ELIGIBLE: { value: "eligible", description: "It may be drawn." },
    ASSIGNING: { value: "assigning", description: "It was drawn, and waits for an auditor." },
    ASSIGNED: { value: "assigned", description: "An auditor is assigned." },
    RECHECKING: {
      value: "rechecking",
      description: "It passed, and a tick decides whether it is judged again.",
    },
    PASSED: { value: "passed" },
    FAILED: {
      value: "failed",
      description:
        "It failed, and the failure has no further effect: the buyer had its money back already, or the hire was judged again.",
    },
    CHALLENGED: { value: "challenged", description: "It failed, and waits for its operator's decision." },
    ROLLED_BACK: { value: "rollback", description: "It failed, and the hire counts as a failure." },
    DISMISSED: { value: "dismiss", description: "It failed, and its operator left the hire as it was." },
    INCONCLUSIVE: { value: "inconclusive", description: "No assigned auditor gave a verdict." },
    ABANDONED: { value: "abandoned", description: "Its operator is no longer in the parameters." },
  } as const,
});

const AuditCause = builder.enumType("AuditCause", {
  values: {
    SAMPLE: { value: "sample", description: "It was drawn at random, at the capability's rate." },
    CONTESTED: { value: "contested", description: "Its buyer took its money back after delivery." },
    HISTORY: {
      value: "history",
      description: "It is judged again by auditors of a mature capability, after its operator's decision.",
    },
    RULES: { value: "rules", description: "It failed by the rules, because of the seller's own receipts." },
  } as const,
});

const AuditOrder = builder.enumType("AuditOrder", {
  values: {
    ELIGIBLE: { value: "eligible", description: "By the time at which the hire became eligible." },
    DRAWN: {
      value: "drawn",
      description: "By the time of the draw. Audits that were not drawn are left out.",
    },
  } as const,
});

type Draw = { block: number; time: number; hash: string | null; words: string | null };

const AuditDrawRef = builder.objectRef<Draw>("AuditDraw").implement({
  description: "The draw of a hire. Nobody knew its number when the hire was made.",
  fields: (t) => ({
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    tickHash: t.string({ nullable: true, description: "Hash of that block.", resolve: ({ hash }) => hash }),
    words: t.exposeString("words", {
      nullable: true,
      description: "The text whose SHA-256 gives the number.",
    }),
    number: t.int({
      nullable: true,
      description:
        "u: the first 64 bits of the hash of `words`, mod 1,000,000. Hire i of the list was drawn because ⌊((i+1)·ppm + u)/10⁶⌋ > ⌊(i·ppm + u)/10⁶⌋. `tallystick audits verify` finds i.",
      resolve: ({ words }) =>
        words === null ? null : Number(drawNumber(sha256HexByNoble, words.split(" ")) % 1_000_000n),
    }),
  }),
});

export const AuditMode = builder.enumType("AuditMode", {
  values: {
    BOOTSTRAP: {
      value: "bootstrap",
      description: "A failed audit is a challenge, which the operator decides.",
    },
    MATURE: { value: "mature", description: "A failed audit rolls the hire back at once." },
  } as const,
});

type Round = { round: number; verdict: "pass" | "fail" | null; attempts: Assignment[] };

const AuditRoundRef = builder.objectRef<Round>("AuditRound").implement({
  fields: (t) => ({
    round: t.exposeInt("round"),
    verdict: t.field({
      type: AuditVerdict,
      nullable: true,
      description: "The round's verdict; null while it is open, or when it ended without one.",
      resolve: ({ verdict }) => verdict,
    }),
    attempts: t.field({ type: [AuditAssignmentRef], resolve: ({ attempts }) => attempts }),
  }),
});

export const AuditRef = builder.objectRef<Audit>("Audit");

AuditRef.implement({
  interfaces: [NodeRef],
  description:
    "A hire that may be audited, with its draw by the hash of a block and the auditors' verdicts (SHP §8.3; docs/specification.md section 11).",
  fields: (t) => ({
    id: t.id({
      description: "`<auditedHire>-audit`; `<auditedHire>-history` when the hire is judged again.",
      resolve: ({ id, hire }) => (id === hire ? `${id}-audit` : id.replace("/", "-")),
    }),
    auditedHire: t.exposeID("hire", {
      description: "The id of the hire in records of audits: its payment's `<tx>-<log>`, or its escrow's id.",
    }),
    operator: t.field({ type: "Address", resolve: ({ operator }) => operator }),
    capability: t.exposeString("capability", { nullable: true }),
    verificationVersion: t.exposeString("verificationVersion"),
    sellerAddress: t.field({ type: "Address", resolve: ({ seller }) => seller }),
    buyerAddress: t.field({ type: "Address", resolve: ({ buyer }) => buyer }),
    seller: t.field(agentAt(({ seller }) => seller)),
    buyer: t.field(agentAt(({ buyer }) => buyer)),
    amountUsdc: t.field({ type: "Usdc", resolve: ({ amount }) => formatUsdc(amount) }),
    status: t.field({ type: AuditStatus, resolve: statusOf }),
    reason: t.exposeString("reason", {
      nullable: true,
      description: "Why it failed by the rules alone: `undisclosed` or `equivocation`.",
    }),
    cause: t.field({ type: AuditCause, resolve: ({ cause }) => cause as "sample" }),
    mode: t.field({
      type: AuditMode,
      nullable: true,
      description: "The capability's mode when the audit failed; null when it did not fail.",
      resolve: ({ mode }) => mode as "mature" | null,
    }),
    history: t.field({
      type: AuditRef,
      nullable: true,
      description: "The audit by which it was judged again (SHP §8.3.4.2).",
      resolve: ({ id, hire }, _, { load }) => (id === hire ? load.audit.load(`${hire}/history`) : null),
    }),
    isRefundFalse: t.exposeBoolean("isRefundFalse", {
      description: "Whether the buyer took the money back although the work was good.",
    }),
    canary: t.exposeString("canary", {
      nullable: true,
      description: "`good` or `bad`, after the operator revealed that it had arranged the hire.",
    }),
    unassignedSince: t.field({
      type: "SafeInt",
      nullable: true,
      description: "The first tick at which no auditor could be assigned; null while an auditor is assigned.",
      resolve: ({ unassignedSince }) => unassignedSince,
    }),
    ratePpm: t.exposeInt("ppm", { description: "The rate at which it is drawn, in parts per million." }),
    isDisclosed: t.exposeBoolean("isDisclosed", {
      description:
        "Whether its seller signed the hashes of params and result, for a capability that it lists.",
    }),
    paramsHash: t.exposeString("paramsHash", { nullable: true }),
    resultHash: t.exposeString("resultHash", { nullable: true }),
    receiptHash: t.exposeString("receipt", { nullable: true }),
    receipt: t.field({
      type: ReceiptRef,
      nullable: true,
      resolve: ({ receipt }, _, { load }) => (receipt === null ? null : load.receipt.load(receipt)),
    }),
    hire: t.field({
      type: HireRef,
      nullable: true,
      description: "Null while the hire is not counted.",
      resolve: ({ hire }, _, { load }) => load.hire.load(hire),
    }),
    listing: t.field({
      type: ListingRef,
      nullable: true,
      description:
        "The seller's present listing for that capability and payment mode. Auditors ask its endpoint for the work.",
      resolve: (audit, _, context) => listingOf(audit, context),
    }),
    round: t.exposeInt("round", { description: "The present round; 0 before the first." }),
    attempt: t.exposeInt("attempt"),
    rounds: t.field({
      type: [AuditRoundRef],
      resolve: (audit, _, context) => roundsOf(audit, context),
    }),
    eligibleBlock: t.field({ type: "SafeInt", resolve: (it) => it.eligibleBlock }),
    eligibleTime: t.field({ type: "SafeInt", resolve: (it) => it.eligibleTime }),
    draw: t.field({
      type: AuditDrawRef,
      nullable: true,
      description: "Null when it was not drawn.",
      resolve: (audit, _, context) => drawOf(audit, context),
    }),
    closedTime: t.field({ type: "SafeInt", nullable: true, resolve: (it) => it.closedTime }),
    decisionRecord: t.exposeString("decisionRecord", {
      nullable: true,
      description: "Hash of the ledger entry with the operator's decision.",
    }),
    isCounted: t.boolean({
      description: "Whether it counts in its seller's `auditPassRate` now.",
      resolve: ({ counted }) => counted !== null,
    }),
  }),
});

/** The status of an audit, including what followed a failure. It is the same as `auditStatus` for rows. */
function statusOf({ status, decision, cause }: Audit) {
  if (status !== "failed") return status as "challenged";
  const undecided = cause === "contested" || cause === "history" ? "failed" : "challenged";
  return (decision ?? undecided) as "challenged";
}

async function drawOf(
  { drawnBlock, drawnTime, operator, ppm, cause }: Audit,
  context: QueryContext,
): Promise<Draw | null> {
  if (drawnBlock === null || cause === "history") return null;
  const hash = await tickHash(drawnBlock, context);
  // A contested hire is always audited, without a draw.
  const words =
    hash === null || cause === "contested" ? null : `tallystick/audit/sample/v1 ${hash} ${operator} ${ppm}`;
  return { block: drawnBlock, time: drawnTime ?? 0, hash, words };
}

async function roundsOf({ id, verdicts }: Audit, { load, takeRows }: QueryContext): Promise<Round[]> {
  takeRows(5);
  const byRound = Map.groupBy(await load.assignments.load(id), ({ round }) => round);
  const verdictOf = { p: "pass", f: "fail" } as const;
  return [...byRound].map(([round, attempts], n) => ({
    round,
    verdict: verdictOf[verdicts[n] as "p"] ?? null,
    attempts,
  }));
}

async function listingOf({ hire: id, seller, capability }: Audit, { load }: QueryContext) {
  if (capability === null) return null;
  const mode = (await load.hire.load(id))?.paymentMode;
  const escrow = mode === undefined ? await load.escrow.load(id) : null;
  if (mode === undefined && escrow === null) return null;
  return load.listing.load(`${seller}/${capability}/${mode ?? `platform_escrow:${escrow?.provider}`}`);
}

export const AuditConnection = builder.connectionObject(
  { type: AuditRef, name: "AuditConnection" },
  { name: "AuditEdge" },
);

/** Finds an audit by its own id, or by the hire's id in the form of records or of GraphQL. */
const findAudit = (id: string, { load }: QueryContext) =>
  load.audit.load(id.replace(/-(audit|hire)$/, "").replace(/-history$/, "/history"));

registerNode("Audit", { form: /^0x[0-9a-f]{64}(-[0-9]+)?-(audit|history)$/, find: findAudit });

const AuditFilter = builder.inputType("AuditFilter", {
  fields: (t) => ({
    operator: t.field({ type: "Address" }),
    seller: t.field({ type: "Address" }),
    auditor: t.field({
      type: "Address",
      description:
        "An auditor that it was ever assigned to. For one auditor's work, `auditAssignments` is the better list.",
    }),
    capability: t.field({ type: "Capability" }),
    status: t.field({ type: AuditStatus }),
  }),
});

builder.queryFields((t) => ({
  audit: t.field({
    type: AuditRef,
    nullable: true,
    args: {
      id: t.arg.id({
        required: true,
        description: "`Audit.id`, or the id of its hire or escrow.",
      }),
    },
    resolve: (_, { id }, context) => findAudit(plainText(id, "id"), context),
  }),
  audits: t.connection(
    {
      description:
        "Hires that may be or were audited, the latest first. With several filters a page may have fewer rows than asked for, although more follow (see agents).",
      type: AuditRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        orderBy: t.arg({ type: AuditOrder }),
        where: t.arg({ type: AuditFilter }),
      },
      resolve: (_, { where, orderBy, ...args }, context) => {
        const { status, ...others } = where ?? {};
        return listPage(args, context, auditList({ ...others, status: status }, orderBy ?? "eligible"));
      },
    },
    AuditConnection,
  ),
}));

builder.objectField(AgentRef, "audits", (t) =>
  t.connection(
    {
      description: "Its hires as the seller that may be or were audited, the latest first.",
      type: AuditRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), status: t.arg({ type: AuditStatus }) },
      resolve: ({ row }, { status, ...args }, context) =>
        listPage(args, context, auditList({ seller: row.id, status: status }, "eligible"), {
          coarseCount: row.privateListings > 0,
        }),
    },
    AuditConnection,
  ),
);

builder.objectField(AuditAssignmentRef, "audit", (t) =>
  t.field({
    type: AuditRef,
    nullable: true,
    resolve: ({ audit }, _, { load }) => load.audit.load(audit),
  }),
);

builder.objectField(HireRef, "audit", (t) =>
  t.field({
    type: AuditRef,
    nullable: true,
    description: "Null when the hire may not be audited.",
    resolve: ({ id }, _, { load }) => load.audit.load(id),
  }),
);

/** The audit of a receipt's hire, if this receipt is the one that counts for the hire. */
async function auditOfReceipt({ id, hire, escrowId }: Row<"receipt">, { load }: QueryContext) {
  const hireId = hire ?? escrowId;
  const audit = hireId === null ? null : await load.audit.load(hireId);
  return audit?.receipt === id ? audit : null;
}

builder.objectFields(ReceiptRef, (t) => ({
  paramsHash: t.exposeString("paramsHash", {
    nullable: true,
    description: "The hash of what was asked for.",
  }),
  resultHash: t.exposeString("resultHash", {
    nullable: true,
    description: "The hash of what was delivered.",
  }),
  audit: t.field({
    type: AuditRef,
    nullable: true,
    description: "Null when the hire may not be audited.",
    resolve: (receipt, _, context) => auditOfReceipt(receipt, context),
  }),
  challenged: t.boolean({
    description: "Whether an audit of it failed and waits for the operator's decision (SHP §8.3.4.2).",
    resolve: async (receipt, _, context) => {
      const audit = await auditOfReceipt(receipt, context);
      return audit !== null && statusOf(audit) === "challenged";
    },
  }),
}));
