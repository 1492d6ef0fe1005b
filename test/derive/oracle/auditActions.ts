import fc from "fast-check";
import type { Address } from "tallystick-protocol/address";
import { DAY, HOUR, wallet } from "../eventLog.ts";

/** 1–3 sell with consent, 4–6 buy, 7–14 audit, 20 operates, 21 attests, 22 and 23 operate audits, 24 and 25 are their pools. */
export const [OPERATOR, ATTESTOR, ONE, OTHER] = [20, 21, 22, 23].map(wallet) as [
  Address,
  Address,
  Address,
  Address,
];
export const POOLS = { [ONE]: { pool: wallet(24) }, [OTHER]: { pool: wallet(25) } };
export const AUDITORS = Array.from({ length: 8 }, (_, n) => wallet(7 + n));
export const CAPABILITIES = ["text.translate", "code.review"] as const;

const seller = fc.integer({ min: 1, max: 3 }).map(wallet);
const buyer = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 4, max: 6 }).map(wallet) },
  { weight: 3, arbitrary: fc.constantFrom(wallet(7), wallet(8), wallet(24), wallet(2)) },
);
const auditor = fc.constantFrom(...AUDITORS);
const operator = fc.constantFrom(ONE, ONE, ONE, OTHER);
const capability = fc.constantFrom(...CAPABILITIES);
const hashes = fc.constantFrom("both", "both", "both", "both", "both", "both", "both", "one", "none");

const action = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("hire" as const),
      seller,
      buyer,
      capability: fc.oneof(
        { weight: 6, arbitrary: capability },
        { weight: 1, arbitrary: fc.constant("data.extract") },
      ),
      hashes,
      atomic: fc.constantFrom(999, 1_000, 500_000),
      count: fc.constantFrom(1, 1, 1, 7),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("escrow" as const),
      seller,
      buyer,
      capability,
      hashes,
      order: fc.constantFrom("receipt,release", "release,receipt", "mark,refund", "receipt", "mark,release"),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("refund" as const),
      seller,
      buyer: fc.integer({ min: 4, max: 5 }).map(wallet),
      hashes: fc.constantFrom("both", "both", "both", "both", "none"),
      amount: fc.constantFrom(99_999, 100_000, 500_000),
      order: fc.constantFrom(
        "receipt,mark,refund,tick",
        "receipt,mark,tick,refund",
        "receipt,mark,refund,refund2,tick",
        "mark,refund,receipt,tick",
        "receipt,nothing,mark,refund,tick",
        "receipt,mark,refund,nothing,tick",
        "receipt,slow,mark,refund,tick",
        "receipt,mark,tick",
        "receipt,refund,tick",
      ),
      by: fc.constantFrom("buyer", "buyer", "buyer", "arbiter", "split"),
      verdicts: fc.array(fc.constantFrom("pass", "pass", "fail", "inconclusive"), { maxLength: 3 }),
      after: fc.constantFrom(null, null, "refund", "other"),
      rates: fc.constantFrom(null, "before the verdicts", "last"),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant("canary" as const),
      seller,
      truth: fc.constantFrom("good" as const, "good" as const, "bad" as const),
      signed: fc.constantFrom("receipt", "receipt", "receipt", "escrow", "nobody"),
      fault: fc.constantFrom(null, null, null, null, null, "late", "busy", "other", "foreign", "twice"),
      verdicts: fc.array(fc.constantFrom("pass", "fail", "inconclusive"), { maxLength: 3 }),
      isRated: fc.boolean(),
      isOpen: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("pay" as const),
      auditor,
      pool: fc.constantFrom(wallet(24), wallet(24), wallet(25)),
      value: fc.constantFrom(1, 5_000, 40_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("list" as const),
      seller,
      capability,
      audit: fc.oneof(operator, fc.constant(null), fc.constant("other" as const)),
      version: fc.constantFrom(null, "v1"),
      mode: fc.constantFrom("direct", "platform_escrow:swarmwage-partnered"),
      retired: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("again" as const),
      pick: fc.nat(),
      hashes: fc.constantFrom("both", "other"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("offer" as const),
      auditor,
      operator,
      capabilities: fc.constantFrom([...CAPABILITIES], [...CAPABILITIES], [CAPABILITIES[0]], []),
      active: fc.constantFrom(true, true, true, false),
      host: fc.nat({ max: 3 }),
      back: fc.boolean(),
    }),
  },
  {
    weight: 18,
    arbitrary: fc.record({
      do: fc.constant("verdict" as const),
      pick: fc.nat(),
      verdict: fc.constantFrom("pass", "pass", "fail", "fail", "inconclusive"),
      fault: fc.constantFrom(
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        "signer",
        "hash",
        "round",
        "attempt",
      ),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant("rounds" as const),
      hashes: fc.nat(),
      verdicts: fc.array(fc.constantFrom("pass", "fail", "fail", "fail", "inconclusive", null), {
        minLength: 2,
        maxLength: 5,
      }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("decide" as const),
      pick: fc.nat(),
      decision: fc.constantFrom("rollback", "rollback", "dismiss"),
      isForeign: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("mode" as const),
      capability,
      justification: fc.constantFrom("once", "twice", "thrice"),
      isForeign: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("judge" as const),
      pick: fc.nat(),
      verdicts: fc.array(fc.constantFrom("pass", "fail", "fail", "inconclusive"), { maxLength: 3 }),
      fault: fc.constantFrom(null, null, null, null, null, "signer", "round"),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("history" as const),
      pick: fc.nat(),
      verdicts: fc.array(fc.constantFrom("pass", "fail", "fail", "inconclusive"), { maxLength: 3 }),
      isForeign: fc.constantFrom(false, false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      auditor,
      handle: fc.constantFrom("ada", "Ada", "bob"),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant("ring" as const),
      first: fc.constantFrom(1, 4, 5, 6, 7, 9),
      funder: fc.integer({ min: 30, max: 33 }).map(wallet),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("params" as const),
      operators: fc.constantFrom([ONE, OTHER], [ONE, OTHER], [ONE], [ONE], [OTHER], []),
      audit: fc.record(
        {
          ratePpm: fc.constantFrom(0, 1, 400_000, 999_999, 1_000_000),
          rates: fc.constantFrom<Record<string, number>>({}, { "text.translate": 500_000 }),
          recheckPpm: fc.constantFrom(0, 500_000, 1_000_000),
          consentSeconds: fc.constantFrom<number>(HOUR, DAY),
          verdictSeconds: fc.constantFrom<number>(HOUR, DAY),
          pairSeconds: fc.constantFrom<number>(HOUR, 7 * DAY),
          disclosureSeconds: fc.constantFrom<number>(HOUR, DAY, 14 * DAY),
          maxAttempts: fc.constantFrom<number>(1, 2, 3),
          maxUnanswered: fc.constantFrom<number>(1, 2, 3),
          matureAuditors: fc.constantFrom<number>(1, 2, 10),
          matureSeconds: fc.constantFrom<number>(1, HOUR),
          elevatedPpm: fc.constantFrom(200_000, 1_000_000),
          elevatedSeconds: fc.constantFrom<number>(HOUR, 7 * DAY),
          contestedSeconds: fc.constantFrom<number>(HOUR, 7 * DAY),
          contestedMinAtomic: fc.constantFrom("99999", "500001"),
          removedSeconds: fc.constantFrom<number>(HOUR, DAY),
          minAgreement: fc.constantFrom<number>(1, 2, 10),
          bountyMultiplier: fc.constantFrom(1, 3),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant("tick" as const),
      hash: fc.option(fc.nat(), { freq: 12 }),
      isSameBlock: fc.boolean(),
    }),
  },
);

export type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const wait = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 2 * HOUR }) },
  { weight: 3, arbitrary: fc.constantFrom(HOUR - 1, HOUR, DAY - 1, DAY, DAY + 1) },
  { weight: 1, arbitrary: fc.constantFrom(7 * DAY - 1, 7 * DAY, 7 * DAY + 1, 30 * DAY) },
);

/** Actions on hires whose sellers agreed to audits, and actions of their auditors. */
export const auditSteps = fc.record({
  rates: fc.record({
    ratePpm: fc.constantFrom(300_000, 1_000_000, 1_000_000),
    recheckPpm: fc.constantFrom(0, 500_000, 1_000_000),
    pairSeconds: fc.constantFrom(1, HOUR, 7 * DAY),
    disclosureSeconds: fc.constantFrom(DAY, 14 * DAY, 14 * DAY),
    matureAuditors: fc.constantFrom(1, 2, 3, 5, 10),
    matureClusters: fc.constantFrom(1, 2, 3, 4),
    matureSeconds: fc.constantFrom(1, HOUR, DAY),
    matureShareSeconds: fc.constantFrom(HOUR, DAY, 7 * DAY),
    matureShare: fc.constantFrom(
      { numerator: 2, denominator: 5 },
      { numerator: 1, denominator: 2 },
      { numerator: 1, denominator: 1 },
    ),
    elevatedPpm: fc.constantFrom(200_000, 1_000_000),
    elevatedSeconds: fc.constantFrom(HOUR, DAY, 7 * DAY),
    contestedSeconds: fc.constantFrom(HOUR, 7 * DAY),
    minAgreement: fc.constantFrom(1, 2, 3, 10),
    maxDisagreement: fc.constantFrom({ numerator: 3, denominator: 10 }, { numerator: 1, denominator: 2 }),
    removedSeconds: fc.constantFrom(HOUR, DAY, 30 * DAY),
    contestedMinAtomic: fc.constantFrom("100000", "99999", "500000"),
    fees: fc.constantFrom<{ fromAtomic: string; feeAtomic: string }[]>(
      [{ fromAtomic: "0", feeAtomic: "5000" }],
      [
        { fromAtomic: "0", feeAtomic: "0" },
        { fromAtomic: "100000", feeAtomic: "7" },
        { fromAtomic: "500000", feeAtomic: "11" },
      ],
    ),
    judgeAfterSeconds: fc.constantFrom(1, HOUR, DAY),
  }),
  sameFamily: fc.boolean(),
  steps: fc.array(fc.record({ wait, blocks: fc.constantFrom(0, 1, 1, 1, 300), action }), {
    minLength: 12,
    maxLength: 50,
  }),
});

export type AuditSteps = typeof auditSteps extends fc.Arbitrary<infer T> ? T : never;
