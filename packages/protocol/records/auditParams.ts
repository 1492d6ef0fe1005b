import * as z from "zod";
import { addressSchema } from "../address.ts";
import { atomicSchema } from "../amount.ts";
import { capabilitySchema } from "../capabilitySchema.ts";

/** The most operators of audits that one node follows. */
export const MAX_AUDIT_OPERATORS = 16;
/** The most bands of fees. */
export const MAX_AUDIT_FEES = 16;
/** The most capabilities that have a rate of their own. */
const MAX_AUDIT_RATES = 512;

const positive = z.int().positive();
const ppm = z.int().min(0).max(1_000_000, "must not be above 1,000,000, which means all");
const share = z
  .strictObject({ numerator: z.int().nonnegative(), denominator: positive })
  .refine((it) => it.numerator <= it.denominator, { error: "must not be more than 1", path: ["numerator"] });
const hasAtMost = (most: number) => (record: object) => Object.keys(record).length <= most;

/** Compares two amounts that are decimal strings without leading zeros. Other texts are refused by `atomicSchema`. */
const isAbove = (a: string, b: string) => a.length > b.length || (a.length === b.length && a > b);

/**
 * How hires are audited (SHP §8.3): by whom, how many, and when a verdict counts. Without operators there are no
 * audits. Times are seconds, amounts decimal strings of atomic units, rates parts per million.
 */
export const auditParamsSchema = z.strictObject({
  /** Operator → the pool that pays its auditors. The pool counts as a hub. */
  operators: z
    .record(addressSchema, z.strictObject({ pool: addressSchema }))
    .refine(hasAtMost(MAX_AUDIT_OPERATORS), `must have at most ${MAX_AUDIT_OPERATORS} operators`)
    .default({}),

  /**
   * The share of a capability's hires that is drawn: its own rate, or the common rate if it has none (SHP §8.3: 1–5
   * %).
   */
  ratePpm: ppm.default(30_000),
  rates: z
    .record(capabilitySchema, ppm)
    .refine(hasAtMost(MAX_AUDIT_RATES), `must have at most ${MAX_AUDIT_RATES} rates`)
    .default({}),
  /**
   * The share of a seller's hires that is drawn after a hire of the seller, or of its cluster, was rolled back.
   * `elevatedSeconds` is how long this share applies.
   */
  elevatedPpm: ppm.default(200_000),
  elevatedSeconds: positive.default(604_800),
  /** The share of passed hires that is judged again. */
  recheckPpm: ppm.default(100_000),

  /** The time after which a change of a listing's consent takes effect. */
  consentSeconds: positive.default(86_400),
  /** The time that an auditor has for its verdict, and how many auditors are asked at most in a round. */
  verdictSeconds: positive.default(86_400),
  maxAttempts: z.int().min(1).max(16).default(3),
  /** No auditor sees the same buyer and seller twice within this time. */
  pairSeconds: positive.default(604_800),
  /** An auditor leaves the roster after this many assignments in a row without an answer. */
  maxUnanswered: positive.default(3),
  /** If no auditor could be assigned to an audit for this many seconds, its operator may judge the hire itself. */
  judgeAfterSeconds: positive.default(86_400),
  /** How long a seller keeps what an auditor may ask for. */
  disclosureSeconds: positive.default(1_209_600),

  /**
   * A hire whose buyer takes the money back after delivery is always drawn, if its amount is at least
   * `contestedMinAtomic`. Within `contestedSeconds` this rule draws only the first such hire between a buyer and a
   * seller.
   */
  contestedMinAtomic: atomicSchema.default("100000"),
  contestedSeconds: positive.default(604_800),

  /**
   * When a capability is mature (SHP §8.3.4.1). `matureShare` is the highest share of the capability's verdicts of the
   * last `matureShareSeconds` that one auditor, or the operator, may have given.
   */
  matureAuditors: positive.default(10),
  matureClusters: positive.default(3),
  matureSeconds: positive.default(2_592_000),
  matureShare: share.default({ numerator: 2, denominator: 5 }),
  matureShareSeconds: positive.default(604_800),

  /**
   * An auditor with at least `minAgreement` judged verdicts leaves its rosters when the share of these verdicts that
   * were overruled is above `maxDisagreement`. It may offer itself again after `removedSeconds`.
   */
  minAgreement: positive.default(10),
  maxDisagreement: share.default({ numerator: 3, denominator: 10 }),
  removedSeconds: positive.default(2_592_000),

  /**
   * The fee of an audit, by the price of the hire. Each band begins at `fromAtomic`. If a fail is confirmed, the first
   * auditor gets `bountyMultiplier` times the fee (SHP §8.3.2).
   */
  fees: z
    .array(z.strictObject({ fromAtomic: atomicSchema, feeAtomic: atomicSchema }))
    .min(1, "must have at least one band")
    .max(MAX_AUDIT_FEES, `must have at most ${MAX_AUDIT_FEES} bands`)
    .refine((bands) => bands[0]?.fromAtomic === "0", "must begin with the band from 0")
    .refine(
      (bands) =>
        bands.every(({ fromAtomic }, n) => n === 0 || isAbove(fromAtomic, bands[n - 1]?.fromAtomic ?? "0")),
      "must be in ascending order of fromAtomic",
    )
    .default(() => [{ fromAtomic: "0", feeAtomic: "5000" }]),
  bountyMultiplier: z.int().min(1).max(100).default(3),
});

export type AuditParams = z.infer<typeof auditParamsSchema>;
