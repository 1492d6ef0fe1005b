import * as z from "zod";
import { addressSchema } from "../address.ts";
import { atomicSchema } from "../amount.ts";
import { feeScheduleSchema, PUBLISHED_FEES } from "../escrow/feeSchedule.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { auditParamsSchema } from "./auditParams.ts";
import { boundForms } from "./boundForms.ts";
import { stewardParamsSchema } from "./stewardParams.ts";

const positive = z.int().positive();
const share = z
  .strictObject({ numerator: z.int().nonnegative(), denominator: positive })
  .refine((it) => it.numerator <= it.denominator, { error: "must not be more than 1", path: ["numerator"] });
const ledgerIdSchema = z.string().regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 lower-case hex digits");

/**
 * The published parameters and trust roots: every threshold of the derivation, and whom it trusts. Thresholds default
 * to the values the protocol publishes (SHP §4.3, §4.5.1, §9.2); roots default to nobody. Times are seconds, amounts
 * decimal strings of atomic units, shares exact fractions.
 */
export const paramsSchema = z.strictObject({
  version: z.int().nonnegative().default(1),

  /** Rolling window of rates, counts and tiers: a hire is in it while time > asOf − windowSeconds. */
  windowSeconds: positive.default(2_592_000),
  volumeWindowSeconds: positive.default(86_400),
  /** How long a receipt waits for its payment, and a payment for its receipt. */
  reconcileSeconds: positive.default(86_400),
  /** A hire below this amount is free: it is shown, and never counted. */
  minHireAtomic: atomicSchema.default("1000"),

  /**
   * Funding origin (SHP §4.5.1). An agent and at least `clusterOthers` others are a cluster if one wallet funded them
   * within `fundingSpanSeconds`. The money may pass through at most `maxIntermediaries` wallets.
   */
  clusterOthers: positive.default(3),
  fundingSpanSeconds: positive.default(86_400),
  maxIntermediaries: z.int().nonnegative().max(4).default(2),
  minFundingAtomic: atomicSchema.default("100000"),
  fundingShare: share.default({ numerator: 1, denominator: 4 }),
  /**
   * A transfer funds nobody if its sender had sent this many transfers before, or if its receiver had received this
   * many. So exchanges, bridges and pools need no list.
   */
  hubTransfers: positive.default(10_000),
  /** Deploy batch (SHP §4.5.1): registrations within this many consecutive blocks. */
  deployBatchBlocks: positive.default(256),
  /** Listing fingerprint (SHP §4.5.1): from this cosine similarity of their token sets, two listings are alike. */
  fingerprintSimilarity: share
    .refine((it) => it.numerator > 0, { error: "must be above 0", path: ["numerator"] })
    .default({ numerator: 23, denominator: 25 }),

  /** Listings that an agent may have, live or retired. Each new listing is compared with all of them. */
  maxListings: positive.default(100),

  /** Tier 2 (SHP §4.3). */
  tier2MinSuccesses: positive.default(10),
  tier2MinSuccessRate: share.default({ numerator: 9, denominator: 10 }),
  tier2MinCapabilities: positive.default(3),
  tier2MinBuyers: positive.default(1),
  tier2RequiresClaim: z.boolean().default(false),

  /** `avg_stars` counts a rating that is d days old with weight q^d: here e^(−0.1) to twelve decimals (SHP §9.2). */
  starDecay: share.default({ numerator: 904_837_418_036, denominator: 1_000_000_000_000 }),

  /** Blocks between two ticks. */
  tickBlocks: positive.default(150),

  /** The most that platform escrows may charge. Buyers refuse more. */
  escrowFees: feeScheduleSchema.default(() => PUBLISHED_FEES.map((band) => ({ ...band }))),
  /** The accounts that may receive these fees. A fee to another account could come back to the payer. */
  feeRecipients: z.array(addressSchema).default([]),

  /** Audits (SHP §8.3): their operators, rates and terms. */
  audit: auditParamsSchema.prefault({}),

  /** The trust score and SLAs (STEWARD): who attests, probes and rules. */
  steward: stewardParamsSchema.prefault({}),

  /** Trust roots: only these accounts are trusted. */
  operator: addressSchema.nullable().default(null),
  claimAttestors: z.array(addressSchema).default([]),
  auditArbiters: z.array(addressSchema).default([]),
  hubs: z.array(addressSchema).default([]),
  /** Escrow contract → provider id. */
  escrows: z.record(addressSchema, z.string().min(1).max(31)).default({}),
  /** Ledger id → the record types it may carry. */
  ledgers: z.record(ledgerIdSchema, z.array(z.string().min(1))).default({}),
  /** In these ledgers a record does not count if its signed body names neither its type nor its ledger. */
  boundLedgers: z.array(ledgerIdSchema).default([]),
});

export type Params = z.infer<typeof paramsSchema>;

const read = boundForms(paramsSchema.shape, paramsSchema);

/** The parameters with every default in place; `input` overrides some. Throws a ZodError that names the field. */
export function defineParams(input: z.input<typeof paramsSchema> = {}): Params {
  return paramsSchema.parse(input);
}

/**
 * Reads the body of a `params` record.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseParams(body: RecordBody): Params {
  return read(body);
}
