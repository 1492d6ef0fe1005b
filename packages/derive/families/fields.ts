import { share, usdc } from "../fieldValues.ts";
import { field } from "../publishedField.ts";

const ON_TICK = "at ticks; with the anchor or payment where a hire is new";
const money = { section: "Tallystick, independence", source: ["on-chain", "receipt"], cadence: ON_TICK };
const all = { window: "windowSeconds", hires: "all" } as const;
const NANO = 1_000_000_000n;

/**
 * The published figures that show how independent a seller's buyers are: the number of sources of money, how
 * much money stayed, and what was left out (docs/independence.md).
 */
export const familyFields = {
  independent_buyers: field({
    type: "count",
    description:
      "The number of independent buyers: funding families of wallets that bought in 30 days, without its own family. A family is a source of money: one withdrawal from an exchange makes one.",
    formula:
      "number of funding families of the buyers, without the seller's own family and without `deep`; a family is fixed when the buyer first spent; a buyer whose money came through the seller is in the seller's own family: see section 13 and Query.family",
    ...money,
    bucket: "powerOfTen",
    columns: ["independentBuyers"],
    value: ({ agent }) => agent.independentBuyers,
    numerator: (it) => String(it.independentBuyers),
    counts: all,
  }),
  established_buyers: field({
    type: "count",
    description:
      "Independent buyers whose family is at least 30 days old and bought from three families of sellers.",
    formula:
      "number of independent families that meet two conditions: the founder first spent at least 2,592,000 seconds before, and the members bought in the window from at least 3 families other than their own and `deep`",
    ...money,
    cadence: "at ticks",
    bucket: "powerOfTen",
    columns: ["establishedBuyers"],
    value: ({ agent }) => agent.establishedBuyers,
    numerator: (it) => String(it.establishedBuyers),
    counts: all,
  }),
  independent_success_rate: field({
    type: "rate",
    description: "The mean of the independent families' shares of successes: one family, one vote.",
    formula:
      "Σ over independent families with rated hires of (successes / rated hires, rounded half up at 9 decimals) / number of those families; null without any",
    ...money,
    source: ["on-chain", "receipt", "telemetry", "audit"],
    bucket: "tenths",
    columns: ["familyShares", "ratingFamilies"],
    value: ({ agent }) => share(agent.familyShares, BigInt(agent.ratingFamilies) * NANO),
    numerator: (it) => `${it.familyShares}/${NANO}`,
    denominator: (it) => String(it.ratingFamilies),
    counts: { window: "windowSeconds", hires: "rated" },
  }),
  kept_usdc: field({
    type: "usdc",
    description:
      "The money that independent families brought and paid, and that did not come back from the agent's side. Money that came in the block of the payment does not count. Money that passes an exchange counts again.",
    formula:
      "Σ over independent families of max(0, brought − returned). Brought: what its buyers paid, as far as the family had it from hubs, mints and senders by count, and the buyer had it before the block of the payment; each unit for one hire only. Returned: transfers in the window of at least `minFundingAtomic`, from wallets of the seller's family or of its payees' families, to buyers of the family or wallets before them: see section 13",
    ...money,
    cadence: "at ticks",
    bucket: "powerOfTenUsdc",
    columns: ["kept"],
    value: ({ agent }) => usdc({ n: agent.kept, d: 1n }),
    numerator: (it) => String(it.kept),
    counts: all,
  }),
  fees_paid_usdc: field({
    type: "usdc",
    description:
      "The escrow fees of its hires to published recipients. Such fees cannot come back to the buyers.",
    formula: "Σ fees of its hires whose recipient is one of the parameter `feeRecipients`",
    ...money,
    source: ["on-chain"],
    bucket: "powerOfTenUsdc",
    columns: ["feesPaid"],
    value: ({ agent }) => usdc({ n: agent.feesPaid, d: 1n }),
    numerator: (it) => String(it.feesPaid),
    counts: { window: "windowSeconds", hires: "escrow" },
  }),
  receipt_coverage: field({
    type: "rate",
    description: "The share of direct payments to it for which it wrote a receipt; null without any payment.",
    formula: "number of hires paid directly / (this number + unreceipted_payments)",
    ...money,
    bucket: "tenths",
    columns: ["windowDirect", "unreceipted"],
    value: ({ agent }) => share(BigInt(agent.windowDirect), BigInt(agent.windowDirect + agent.unreceipted)),
    numerator: (it) => String(it.windowDirect),
    denominator: (it) => String(it.windowDirect + it.unreceipted),
    counts: { window: "windowSeconds", hires: "direct" },
  }),
  unreceipted_payments: field({
    type: "count",
    description: "The number of authorized payments to it without a receipt within 24 hours.",
    formula:
      "authorized payments of at least `minHireAtomic` to it, with a live listing, that made no hire within `reconcileSeconds`; a payment that makes a hire later does not count",
    ...money,
    source: ["on-chain"],
    cadence: "at ticks",
    bucket: "powerOfTen",
    columns: ["unreceipted"],
    value: ({ agent }) => agent.unreceipted,
    numerator: (it) => String(it.unreceipted),
  }),
  unreceipted_usdc: field({
    type: "usdc",
    description: "The sum of the payments without a receipt.",
    formula: "Σ of unreceipted_payments",
    ...money,
    source: ["on-chain"],
    cadence: "at ticks",
    bucket: "powerOfTenUsdc",
    columns: ["unreceiptedValue"],
    value: ({ agent }) => usdc({ n: agent.unreceiptedValue, d: 1n }),
    numerator: (it) => String(it.unreceiptedValue),
  }),
  unanswered_escrows: field({
    type: "count",
    description:
      "The number of escrow deposits for it that went back to their buyers without an act of the agent.",
    formula:
      "escrows of at least `minHireAtomic` in its name that timed out, or that somebody else refunded, with neither delivery nor receipt until `reconcileSeconds` later; an escrow that makes a hire later does not count",
    ...money,
    source: ["on-chain"],
    cadence: "at ticks",
    bucket: "powerOfTen",
    columns: ["unanswered"],
    value: ({ agent }) => agent.unanswered,
    numerator: (it) => String(it.unanswered),
  }),
  refunds_contested: field({
    type: "count",
    description: "The number of its hires whose buyer took the money back after the delivery was marked.",
    formula: "hires whose buyer took the money back after delivery was marked: see section 3",
    ...money,
    source: ["on-chain"],
    bucket: "powerOfTen",
    columns: ["refundsContested"],
    value: ({ agent }) => agent.refundsContested,
    numerator: (it) => String(it.refundsContested),
    counts: { window: "windowSeconds", hires: "contested" },
  }),
  refunds_contested_families: field({
    type: "count",
    description: "The number of funding families of the buyers of these contested hires.",
    formula: "funding families of the buyers of refunds_contested, also the seller's own family and `deep`",
    ...money,
    source: ["on-chain"],
    bucket: "powerOfTen",
    columns: ["contestingFamilies"],
    value: ({ agent }) => agent.contestingFamilies,
    numerator: (it) => String(it.contestingFamilies),
    counts: { window: "windowSeconds", hires: "contested" },
  }),
};
