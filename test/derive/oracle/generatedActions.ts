import fc from "fast-check";
import type { Hex } from "tallystick-protocol/hex";
import { DAY, LEDGER, OTHER_LEDGER, wallet } from "../eventLog.ts";

/** Wallets 1–7 list and sell, 8–12 only move money or buy, 13 attests, 14 operates, 15 is an arbiter. */
export const ATTESTOR = wallet(13);
export const OPERATOR = wallet(14);
export const ARBITER = wallet(15);

const someone = fc.integer({ min: 1, max: 12 }).map(wallet);
const seller = fc.integer({ min: 1, max: 7 }).map(wallet);
/** Few wallets, so each funds several groups. When one wallet is published as a hub, the groups of the others remain. */
const funder = fc.integer({ min: 6, max: 12 }).map(wallet);
const few = fc.nat({ max: 5 });
const capability = fc.constantFrom("text.translate", "code.review", "chart.generate", "data.extract");
const wait = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 3_600 }) },
  { weight: 3, arbitrary: fc.constantFrom(DAY - 1, DAY, DAY + 1) },
  { weight: 1, arbitrary: fc.constantFrom(15 * DAY, 30 * DAY - 1, 30 * DAY, 30 * DAY + 1) },
);

const ledger = fc.constantFrom(LEDGER, OTHER_LEDGER);
/** The ledger, and whether the record has the older form. */
/** Some latencies are at the longest possible figure for a payment of this block, and beyond any. */
const LONG = [3_600_000, 3_600_001, Number.MAX_SAFE_INTEGER];
const orLong = (n: number): number => (n % 6 === 0 ? (LONG[(n / 6) % 3] ?? n) : n);
const where = { ledger, old: fc.boolean() };

const ring = fc.record({
  do: fc.constant("ring" as const),
  from: funder,
  first: fc.integer({ min: 1, max: 5 }),
  size: fc.integer({ min: 2, max: 6 }),
  through: fc.boolean(),
});

const list = fc.record({
  do: fc.constant("list" as const),
  seller,
  capability,
  price: fc.constantFrom<string>("0.50", "0.51", "7.00"),
  host: few,
  port: fc.constantFrom("", "", ":443", ":8443"),
  retired: fc.boolean(),
  private: fc.boolean(),
  issued: fc.option(few),
  payee: fc.option(someone),
});

/** The required similarity of two sets of tokens: from half of the tokens to all tokens. */
const similarity = fc.constantFrom(
  { numerator: 23, denominator: 25 },
  { numerator: 1, denominator: 2 },
  { numerator: 3, denominator: 4 },
  { numerator: 99, denominator: 100 },
  { numerator: 1, denominator: 1 },
);

const tierGates = {
  tier2MinSuccesses: fc.constantFrom(1, 5, 11),
  tier2MinSuccessRate: fc.constantFrom({ numerator: 1, denominator: 2 }, { numerator: 1, denominator: 1 }),
  tier2MinCapabilities: fc.constantFrom(1, 2),
  tier2MinBuyers: fc.constantFrom(2, 3),
  tier2RequiresClaim: fc.boolean(),
};

/** Parameters that stay the same in a log. Another decay of stars would apply only to the next rating. */
export const gates = fc.record(
  {
    ...tierGates,
    starDecay: fc.constantFrom(
      { numerator: 0, denominator: 1 },
      { numerator: 1, denominator: 2 },
      { numerator: 1, denominator: 1 },
    ),
    fingerprintSimilarity: similarity,
  },
  { requiredKeys: [] },
);

export type Gates = typeof gates extends fc.Arbitrary<infer T> ? T : never;

const publish = fc.record({
  do: fc.constant("params" as const),
  hub: fc.option(fc.oneof(funder, someone)),
  unhub: fc.boolean(),
  thresholds: fc.record(
    {
      windowSeconds: fc.constantFrom(15 * DAY, 30 * DAY),
      volumeWindowSeconds: fc.constantFrom(DAY / 2, DAY),
      // Some waits are so long that a counted item can be as old as its window.
      reconcileSeconds: fc.constantFrom(DAY / 2, DAY, 40 * DAY),
      minHireAtomic: fc.constantFrom("1000", "2001"),
      minFundingAtomic: fc.constantFrom("100000", "500000"),
      fundingShare: fc.constantFrom({ numerator: 1, denominator: 4 }, { numerator: 1, denominator: 2 }),
      maxIntermediaries: fc.constantFrom(0, 1, 2, 3),
      hubTransfers: fc.constantFrom(1, 2, 4, 12, 10_000),
      maxListings: fc.constantFrom(2, 100),
      fingerprintSimilarity: similarity,
      clusterOthers: fc.constantFrom<number>(1, 2, 4, 5),
      fundingSpanSeconds: fc.constantFrom<number>(3_600, DAY / 2, 3 * DAY),
      deployBatchBlocks: fc.constantFrom<number>(1, 64, 1_000),
      boundLedgers: fc.constantFrom<Hex[]>([], [LEDGER], [OTHER_LEDGER]),
    },
    { requiredKeys: [] },
  ),
});

const action = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("spree" as const),
      seller,
      buyers: fc.integer({ min: 1, max: 4 }),
      hires: fc.integer({ min: 9, max: 21 }),
      failures: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("fund" as const),
      from: someone,
      to: someone,
      cents: fc.integer({ min: 1, max: 400 }),
      authorized: fc.boolean(),
      tx: few,
    }),
  },
  { weight: 6, arbitrary: ring },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("hire" as const),
      seller,
      buyer: someone,
      capability,
      passed: fc.boolean(),
      latency: fc.nat({ max: 70_000 }).map(orLong),
      signed: fc.boolean(),
      atomic: fc.constantFrom(999, 1_000, 250_000, 250_001),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("receipt" as const),
      seller,
      buyer: someone,
      capability,
      tx: few,
      cents: fc.integer({ min: 1, max: 4 }),
      signed: fc.boolean(),
      again: fc.boolean(),
      payee: fc.option(someone),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("deposit" as const), seller, buyer: someone }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("escrow" as const),
      pick: fc.nat(),
      how: fc.constantFrom(
        "delivered",
        "release",
        "split",
        "buyer",
        "seller",
        "arbiter",
        "timeout",
        "receipt",
      ),
      capability,
    }),
  },
  { weight: 5, arbitrary: list },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("template" as const), count: fc.integer({ min: 3, max: 5 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("rate" as const),
      pick: fc.nat(),
      stars: fc.integer({ min: 1, max: 5 }),
      side: fc.constantFrom("buyer", "seller"),
      ...where,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("telemetry" as const),
      pick: fc.nat(),
      latency: fc.option(fc.nat({ max: 900 }).map(orLong)),
      passed: fc.boolean(),
      ...where,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      seller,
      state: fc.constantFrom("claimed", "verified", "unclaimed"),
      ...where,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("replay" as const),
      pick: fc.nat(),
      type: fc.option(fc.constantFrom("rating", "telemetry", "claim", "params", "verify", "contest")),
      ledger,
    }),
  },
  { weight: 4, arbitrary: publish },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("enter" as const), agent: someone }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("tick" as const) }) },
);

export type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** An action, and the seconds and blocks before it. Without blocks there are no seconds either. */
export const step = fc.record({ wait, blocks: fc.constantFrom(0, 0, 1, 1, 1, 60, 256), action });

/** Wallets 1–12 as above. 20–34 pass money on. 35–39 come late: they list, or are paid, after everything else. */
const anyone = fc.integer({ min: 1, max: 39 }).map(wallet);

const chain = fc.record({
  do: fc.constant("chain" as const),
  from: fc.oneof(funder, anyone),
  first: fc.constantFrom(1, 2, 3, 8, 35),
  size: fc.integer({ min: 1, max: 5 }),
  /** The wallets that the money passes through. With `apart` the receiver's number is added, so each receiver has its own. */
  through: fc.array(fc.constantFrom(20, 25, 30), { maxLength: 4 }),
  apart: fc.boolean(),
  slow: fc.boolean(),
});

const busy = fc.record({
  do: fc.constant("busy" as const),
  wallet: anyone,
  out: fc.boolean(),
  count: fc.constantFrom(1, 2, 3, 7, 8, 9, 21),
  value: fc.constantFrom(0, 1, 500_000),
});

const pay = fc.record({
  do: fc.constant("pay" as const),
  seller: anyone,
  buyer: anyone,
  payee: fc.option(anyone),
  amount: fc.constantFrom(1_000, 250_000, 90_000_000),
  authorized: fc.boolean(),
  signed: fc.boolean(),
  consent: fc.constantFrom("before", "between", "never"),
  order: fc.constantFrom("payment first", "receipt first"),
  apart: fc.constantFrom(0, 60, DAY / 2, DAY + 1),
  copies: fc.constantFrom(1, 1, 2, 3),
  receipts: fc.constantFrom(1, 1, 2),
});

const distantAction = fc.oneof(
  { weight: 6, arbitrary: action },
  { weight: 4, arbitrary: chain },
  { weight: 1, arbitrary: busy },
  { weight: 3, arbitrary: pay },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("enter" as const), agent: anyone }) },
);

export type DistantAction = typeof distantAction extends fc.Arbitrary<infer T> ? T : never;

/** Like `step`, with money that passes through several wallets, wallets with many transfers, and payments to payees. */
export const distantStep = fc.record({
  wait,
  blocks: fc.constantFrom(0, 1, 1, 1, 60, 256),
  action: distantAction,
});

/** The wallets that fund agents. They form many clusters, and some of these merge. */
const treasury = fc.integer({ min: 30, max: 34 }).map(wallet);
/** The agents that exist from the beginning. Wallets 13–20 and their funders may come later. */
export const CLUSTERED = Array.from({ length: 12 }, (_, n) => wallet(n + 1));
const late = fc.integer({ min: 13, max: 20 }).map(wallet);

/**
 * Steps that form and dissolve clusters, and hires in clusters. Some steps are two days apart, so that groups of one
 * funder can stay separate.
 */
export const clusterStep = fc.record({
  wait: fc.constantFrom(20, 60, 60, 2 * DAY),
  blocks: fc.constantFrom(0, 1, 1, 300),
  action: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant("ring" as const),
        from: treasury,
        first: fc.integer({ min: 1, max: 16 }),
        size: fc.integer({ min: 1, max: 5 }),
        through: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("params" as const),
        hub: fc.option(treasury),
        unhub: fc.boolean(),
        thresholds: fc.record(
          {
            clusterOthers: fc.constantFrom<number>(1, 2, 4),
            fundingSpanSeconds: fc.constantFrom<number>(40, 3 * DAY),
            deployBatchBlocks: fc.constantFrom<number>(1, 600),
          },
          { requiredKeys: [] },
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("enter" as const), agent: fc.oneof(treasury, late, late) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("list" as const),
        seller,
        capability: fc.constant("text.translate"),
        price: fc.constantFrom("0.50", "7.00"),
        host: fc.nat({ max: 1 }),
        port: fc.constant(""),
        retired: fc.boolean(),
        private: fc.constant(false),
        issued: fc.constant(null),
        payee: fc.constant(null),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("hire" as const),
        seller,
        buyer: fc.integer({ min: 1, max: 20 }).map(wallet),
        capability: fc.constant("text.translate"),
        passed: fc.boolean(),
        latency: fc.constant(1),
        signed: fc.boolean(),
        atomic: fc.constant(1_000),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("tick" as const) }) },
  ),
});

/**
 * Steps of few sellers and buyers under changing gates of Tier 2. The listings of several agents are alike, so that
 * agents change the rows of others.
 */
export const tierStep = fc.record({
  wait: fc.constantFrom(20, 20, 20, 2 * DAY, 15 * DAY),
  blocks: fc.constantFrom(0, 1, 1),
  action: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant("hire" as const),
        seller: fc.integer({ min: 1, max: 3 }).map(wallet),
        buyer: fc.integer({ min: 4, max: 9 }).map(wallet),
        capability: fc.constantFrom("text.translate", "code.review"),
        passed: fc.constantFrom(true, true, true, false),
        latency: fc.constant(1),
        signed: fc.boolean(),
        atomic: fc.constant(1_000),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant("list" as const),
        seller: fc.integer({ min: 1, max: 9 }).map(wallet),
        capability: fc.constant("text.translate"),
        // Most prices give the same tokens. The same body would change nothing when it comes again.
        price: fc.constantFrom("0.50", "0.51", "0.52", "0.53", "0.54", "7.00"),
        host: fc.constant(0),
        port: fc.constant(""),
        retired: fc.constantFrom(false, false, true),
        private: fc.constant(false),
        issued: fc.constant(null),
        payee: fc.constant(null),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("params" as const),
        hub: fc.constantFrom(null, null, null, wallet(30)),
        unhub: fc.boolean(),
        thresholds: fc.record(
          { ...tierGates, windowSeconds: fc.constantFrom<number>(15 * DAY, 30 * DAY) },
          { requiredKeys: [] },
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("ring" as const),
        from: fc.constant(wallet(30)),
        first: fc.integer({ min: 1, max: 6 }),
        size: fc.constant(4),
        through: fc.constant(false),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("claim" as const),
        seller: fc.integer({ min: 1, max: 3 }).map(wallet),
        state: fc.constantFrom("verified", "verified", "unclaimed"),
        ...where,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("tick" as const) }) },
  ),
});
