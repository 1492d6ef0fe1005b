import { formatUsdc } from "tallystick-protocol/amount";
import type { AuditParams } from "tallystick-protocol/records/auditParams";
import type { Params } from "tallystick-protocol/records/params";
import { builder } from "./builder.ts";
import { paramsInForce } from "./paramsInForce.ts";

type Fraction = { numerator: number; denominator: number };

/** The parameters of audits that are whole numbers. */
const AUDIT_NUMBERS = [
  "elevatedPpm",
  "elevatedSeconds",
  "recheckPpm",
  "consentSeconds",
  "verdictSeconds",
  "maxAttempts",
  "pairSeconds",
  "maxUnanswered",
  "judgeAfterSeconds",
  "disclosureSeconds",
  "contestedSeconds",
  "matureAuditors",
  "matureClusters",
  "matureSeconds",
  "matureShareSeconds",
  "minAgreement",
  "removedSeconds",
  "bountyMultiplier",
] as const satisfies (keyof AuditParams)[];

const FractionRef = builder.objectRef<Fraction>("Fraction").implement({
  description: "An exact fraction.",
  fields: (t) => ({
    numerator: t.field({ type: "SafeInt", resolve: ({ numerator }) => numerator }),
    denominator: t.field({ type: "SafeInt", resolve: ({ denominator }) => denominator }),
  }),
});

const EscrowRootRef = builder.objectRef<{ address: string; provider: string }>("EscrowRoot").implement({
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ address }) => address }),
    provider: t.exposeString("provider"),
  }),
});

const LedgerRootRef = builder.objectRef<{ id: string; types: string[] }>("LedgerRoot").implement({
  fields: (t) => ({
    id: t.exposeID("id"),
    recordTypes: t.exposeStringList("types", {
      description: "The only record types that count in this ledger.",
    }),
  }),
});

const AuditOperatorRef = builder.objectRef<{ address: string; pool: string }>("AuditOperator").implement({
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ address }) => address }),
    pool: t.field({
      type: "Address",
      description: "The wallet that pays its auditors. It counts as a hub.",
      resolve: ({ pool }) => pool,
    }),
  }),
});

const AuditRateRef = builder.objectRef<{ capability: string; ppm: number }>("AuditRate").implement({
  fields: (t) => ({ capability: t.exposeString("capability"), ppm: t.exposeInt("ppm") }),
});

type AuditFee = AuditParams["fees"][number];

const AuditFeeRef = builder.objectRef<AuditFee>("AuditFee").implement({
  fields: (t) => ({
    fromUsdc: t.field({
      type: "Usdc",
      description: "The lowest price of a hire to which this fee applies.",
      resolve: ({ fromAtomic }) => formatUsdc(BigInt(fromAtomic)),
    }),
    feeUsdc: t.field({ type: "Usdc", resolve: ({ feeAtomic }) => formatUsdc(BigInt(feeAtomic)) }),
  }),
});

const AuditParamsRef = builder.objectRef<AuditParams>("AuditParams").implement({
  description:
    "The rules of audits: the operators, the rates and the deadlines. Without operators there are no audits.",
  fields: (t) => ({
    operators: t.field({
      type: [AuditOperatorRef],
      resolve: ({ operators }) => Object.entries(operators).map(([address, { pool }]) => ({ address, pool })),
    }),
    ratePpm: t.exposeInt("ratePpm", { description: "How many of a million hires are drawn." }),
    rates: t.field({
      type: [AuditRateRef],
      description: "The rates of capabilities that have their own.",
      resolve: ({ rates }) => Object.entries(rates).map(([capability, ppm]) => ({ capability, ppm })),
    }),
    ...Object.fromEntries(
      AUDIT_NUMBERS.map((name) => [name, t.field({ type: "SafeInt", resolve: (it) => it[name] })]),
    ),
    contestedMinUsdc: t.field({
      type: "Usdc",
      resolve: ({ contestedMinAtomic }) => formatUsdc(BigInt(contestedMinAtomic)),
    }),
    matureShare: t.field({ type: FractionRef, resolve: ({ matureShare }) => matureShare }),
    maxDisagreement: t.field({ type: FractionRef, resolve: ({ maxDisagreement }) => maxDisagreement }),
    fees: t.field({ type: [AuditFeeRef], resolve: ({ fees }) => fees }),
  }),
});

const ParamsRef = builder.objectRef<Params>("Params").implement({
  description:
    "The parameters in force, with the trust roots: the accounts and contracts whose records count. Their version is part of the digest. Times are seconds. docs/specification.md explains each parameter.",
  fields: (t) => ({
    version: t.field({ type: "SafeInt", resolve: (it) => it.version }),
    body: t.field({
      type: "JSON",
      description: "All parameters at once, in the form that a params record has and `/v1/params` gives.",
      resolve: (it) => it,
    }),
    windowSeconds: t.field({ type: "SafeInt", resolve: (it) => it.windowSeconds }),
    volumeWindowSeconds: t.field({ type: "SafeInt", resolve: (it) => it.volumeWindowSeconds }),
    reconcileSeconds: t.field({ type: "SafeInt", resolve: (it) => it.reconcileSeconds }),
    minHireUsdc: t.field({ type: "Usdc", resolve: (it) => formatUsdc(BigInt(it.minHireAtomic)) }),
    clusterOthers: t.field({ type: "SafeInt", resolve: (it) => it.clusterOthers }),
    fundingSpanSeconds: t.field({ type: "SafeInt", resolve: (it) => it.fundingSpanSeconds }),
    maxIntermediaries: t.field({ type: "SafeInt", resolve: (it) => it.maxIntermediaries }),
    minFundingUsdc: t.field({ type: "Usdc", resolve: (it) => formatUsdc(BigInt(it.minFundingAtomic)) }),
    fundingShare: t.field({ type: FractionRef, resolve: (it) => it.fundingShare }),
    hubTransfers: t.field({ type: "SafeInt", resolve: (it) => it.hubTransfers }),
    deployBatchBlocks: t.field({ type: "SafeInt", resolve: (it) => it.deployBatchBlocks }),
    maxListings: t.field({ type: "SafeInt", resolve: (it) => it.maxListings }),
    fingerprintSimilarity: t.field({ type: FractionRef, resolve: (it) => it.fingerprintSimilarity }),
    tier2MinSuccesses: t.field({ type: "SafeInt", resolve: (it) => it.tier2MinSuccesses }),
    tier2MinSuccessRate: t.field({ type: FractionRef, resolve: (it) => it.tier2MinSuccessRate }),
    tier2MinCapabilities: t.field({ type: "SafeInt", resolve: (it) => it.tier2MinCapabilities }),
    tier2MinBuyers: t.field({ type: "SafeInt", resolve: (it) => it.tier2MinBuyers }),
    tier2RequiresClaim: t.exposeBoolean("tier2RequiresClaim"),
    starDecay: t.field({ type: FractionRef, resolve: (it) => it.starDecay }),
    tickBlocks: t.field({ type: "SafeInt", resolve: (it) => it.tickBlocks }),
    audit: t.field({ type: AuditParamsRef, resolve: (it) => it.audit }),
    operator: t.field({ type: "Address", nullable: true, resolve: (it) => it.operator }),
    claimAttestors: t.field({ type: ["Address"], resolve: (it) => it.claimAttestors }),
    auditArbiters: t.field({ type: ["Address"], resolve: (it) => it.auditArbiters }),
    hubs: t.field({ type: ["Address"], resolve: (it) => it.hubs }),
    escrows: t.field({
      type: [EscrowRootRef],
      resolve: (it) => Object.entries(it.escrows).map(([address, provider]) => ({ address, provider })),
    }),
    ledgers: t.field({
      type: [LedgerRootRef],
      resolve: (it) => Object.entries(it.ledgers).map(([id, types]) => ({ id, types })),
    }),
    boundLedgers: t.field({
      type: ["ID"],
      description: "Ledgers in which a record counts only if its signed body names its type and its ledger.",
      resolve: (it) => it.boundLedgers,
    }),
  }),
});

builder.queryField("params", (t) =>
  t.field({
    type: ParamsRef,
    nullable: true,
    description: "The parameters in force; null before anything was indexed.",
    resolve: (_, __, context) => paramsInForce(context),
  }),
);
