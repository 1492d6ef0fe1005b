import { actors } from "./actors.ts";

/** The fields of an agent that the table shows. They must have exactly these values. */
export type ExpectedAgent = {
  last30dHireCount: number;
  last30dHireCountRaw: number;
  successRate: number | null;
  last24hVolumeUsdc: string;
  refundRate: number | null;
  trustTier: number;
  clusterSize: number;
  distinctBuyers: number;
  hiresBought: number;
  silentTimeoutRate: number | null;
};

const nothing: ExpectedAgent = {
  last30dHireCount: 0,
  last30dHireCountRaw: 0,
  successRate: null,
  last24hVolumeUsdc: "0.00",
  refundRate: null,
  trustTier: 0,
  clusterSize: 1,
  distinctBuyers: 0,
  hiresBought: 0,
  silentTimeoutRate: null,
};

const [leader, ...followers] = actors.ring;

/** The expected results, worked out by hand from the chapters in story/ and the rules of the specification. */
export const expectedAgents: ReadonlyMap<string, ExpectedAgent> = new Map<string, ExpectedAgent>([
  // 10 successes of 11 over 3 capabilities: 0.90909… is at least 9/10, so Tier 2. 4 × 0.50 + 3 × 0.25 + 4 × 1.00.
  [
    actors.scribe.address,
    {
      ...nothing,
      last30dHireCount: 11,
      last30dHireCountRaw: 11,
      successRate: 0.909090909,
      last24hVolumeUsdc: "6.75",
      trustTier: 2,
      distinctBuyers: 2,
    },
  ],
  [
    actors.rookie.address,
    {
      ...nothing,
      last30dHireCount: 2,
      last30dHireCountRaw: 2,
      successRate: 0.5,
      last24hVolumeUsdc: "1.00",
      distinctBuyers: 2,
    },
  ],
  // Two hires were released, one was refunded, and one timed out without delivery: 2 of 4 succeeded. A hire that
  // timed out after delivery is neutral for this rate. Its money went back too, so 3 of 5 are refunds. The deposit
  // that forge never accepted is no hire.
  [
    actors.forge.address,
    {
      ...nothing,
      last30dHireCount: 5,
      last30dHireCountRaw: 5,
      successRate: 0.5,
      last24hVolumeUsdc: "4.00",
      refundRate: 0.6,
      distinctBuyers: 2,
    },
  ],
  // 10 successes over 3 capabilities: 4 × 0.40 + 3 × 0.20 + 3 × 0.80.
  [
    actors.quill.address,
    {
      ...nothing,
      last30dHireCount: 10,
      last30dHireCountRaw: 10,
      successRate: 1,
      last24hVolumeUsdc: "4.60",
      trustTier: 2,
      distinctBuyers: 2,
    },
  ],
  // Its only hire was a success until two auditors judged it. The payment is not undone.
  [
    actors.mirage.address,
    {
      ...nothing,
      last30dHireCount: 1,
      last30dHireCountRaw: 1,
      successRate: 0,
      last24hVolumeUsdc: "0.25",
      distinctBuyers: 1,
    },
  ],
  // Its buyer was refunded, and an auditor found the work good. So the hire is neutral and not a failure.
  [
    actors.sterling.address,
    { ...nothing, last30dHireCount: 1, last30dHireCountRaw: 1, refundRate: 1, distinctBuyers: 1 },
  ],
  // Its buyer was refunded, and two auditors found the work bad. So it stays a failure.
  [
    actors.pewter.address,
    {
      ...nothing,
      last30dHireCount: 1,
      last30dHireCountRaw: 1,
      successRate: 0,
      refundRate: 1,
      distinctBuyers: 1,
    },
  ],
  // Nobody hired it. Its part of the story is the SLA.
  [actors.harbor.address, nothing],
  // One of its two escrow hires timed out after delivery.
  [actors.acme.address, { ...nothing, hiresBought: 15, silentTimeoutRate: 0.5 }],
  [actors.bolt.address, { ...nothing, hiresBought: 15, silentTimeoutRate: 0 }],
  [actors.gripe.address, { ...nothing, hiresBought: 1, silentTimeoutRate: 0 }],
  // 20 hires at 1/5 each count as 4, and four buyers of one cluster count as one. So this is far from Tier 2,
  // although no hire failed.
  [
    leader.address,
    {
      ...nothing,
      last30dHireCount: 4,
      last30dHireCountRaw: 20,
      successRate: 1,
      last24hVolumeUsdc: "0.40",
      clusterSize: 5,
      distinctBuyers: 1,
    },
  ],
  ...followers.map(({ address }) => [address, { ...nothing, clusterSize: 5, hiresBought: 5 }] as const),
]);

/** The expected result of an audited hire. */
export type ExpectedAudit = {
  cause: string;
  status: string;
  isRefundFalse: boolean;
  outcome: string;
  evidence: string;
  /** The auditors' verdicts, in order. */
  verdicts: string[];
};

/** The hires that were drawn, by their sellers. */
export const expectedAudits: ReadonlyMap<string, ExpectedAudit> = new Map<string, ExpectedAudit>([
  [
    actors.mirage.address,
    {
      ...{
        cause: "SAMPLE",
        status: "ROLLED_BACK",
        isRefundFalse: false,
        outcome: "FAILURE",
        evidence: "AUDIT",
      },
      verdicts: ["FAIL", "FAIL"],
    },
  ],
  [
    actors.sterling.address,
    {
      ...{ cause: "CONTESTED", status: "PASSED", isRefundFalse: true, outcome: "NEUTRAL", evidence: "AUDIT" },
      verdicts: ["PASS"],
    },
  ],
  [
    actors.pewter.address,
    {
      ...{
        cause: "CONTESTED",
        status: "FAILED",
        isRefundFalse: false,
        outcome: "FAILURE",
        evidence: "ESCROW",
      },
      verdicts: ["FAIL", "FAIL"],
    },
  ],
]);

/** The expected state of an SLA. */
export type ExpectedSla = {
  overallStatus: string;
  suspendedUntil: number | null;
  breaches: { metric: string; value: number; status: string; steps: string[] }[];
};

/** The SLAs, by agent. One hour of the first 18 was lost, so 204 of 216 slots were up: less than 95 %. */
export const expectedSlas: ReadonlyMap<string, ExpectedSla> = new Map<string, ExpectedSla>([
  [
    actors.harbor.address,
    {
      overallStatus: "compliant",
      suspendedUntil: null,
      breaches: [
        {
          ...{ metric: "uptime", value: 0.944444444, status: "confirmed" },
          steps: ["detected", "disputed", "upheld", "confirmed", "closed"],
        },
      ],
    },
  ],
]);

/**
 * Entries of the SLA's chapter: the parameters, an offer, the SLA, a dispute and a ruling, 18 hourly reports
 * and one later report.
 */
const PROMISED = 5 + 19;

/**
 * What the auditors earned and were paid, in atomic units. Two hires failed. For each of them the first fail
 * earns three fees, and the second fail earns one. The pass earns one fee.
 */
export const EXPECTED_EARNED = 45_000n;

/** Two tasks that models did, and the closing entry of one that is held. */
const DISPATCHED = 3;

/**
 * 12 offers, and 13, 5 and 20 receipts. Then the parameters, 3 offers and 10 receipts of quill, 2 offers to
 * audit, 3 audited offers and receipts, 5 verdicts and a decision. The entries of the SLA come first. In addition,
 * there is a receipt for each auditor that took its fee when it was hired.
 */
export const EXPECTED_ENTRIES = 50 + 1 + 13 + 2 + 6 + 6 + DISPATCHED + PROMISED;

/** 11 of scribe, 2 of rookie, 5 of forge, 20 in the ring, 10 of quill, and the three that were audited. */
export const EXPECTED_HIRES = 51;

/** How many escrows end in each way: forge's six deposits, one of sterling and one of pewter. */
export const EXPECTED_ESCROWS = { RELEASED: 2, REFUNDED: 3, TIMED_OUT: 3 };
