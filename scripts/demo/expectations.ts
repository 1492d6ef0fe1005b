import { actors } from "./actors.ts";

/** The fields of an agent that the table shows and that have to be exactly this. */
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

/** What the story must give, worked out by hand from the acts in story/ and the rules of the specification. */
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
  // Released twice, refunded, timed out without delivery: 2 of 4. The delivered one that timed out is neutral there, but
  // its money went back too: 3 of 5. The deposit it never took up is nobody's hire.
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
  // Of its two escrow hires it let one time out after delivery.
  [actors.acme.address, { ...nothing, hiresBought: 9, silentTimeoutRate: 0.5 }],
  [actors.bolt.address, { ...nothing, hiresBought: 9, silentTimeoutRate: 0 }],
  // 20 hires at 1/5 each count 4, and four buyers of one cluster are one: far from Tier 2, with a perfect record.
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

/** 12 offers, and 13, 5 and 20 receipts. */
export const EXPECTED_ENTRIES = 50;

/** 11 of scribe, 2 of rookie, 5 of forge, 20 in the ring. */
export const EXPECTED_HIRES = 38;

/** What became of forge's six deposits. */
export const EXPECTED_ESCROWS = { RELEASED: 2, REFUNDED: 1, TIMED_OUT: 3 };
