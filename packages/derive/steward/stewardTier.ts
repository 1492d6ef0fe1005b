import { NANO } from "./nano.ts";
import { SLOTS_PER_DAY } from "./slotDays.ts";

export type StewardTier = "UNVERIFIED" | "VERIFIED" | "TRUSTED" | "HIGHLY_TRUSTED";

/** Slots of a window: those with data, and those that count as downtime. */
export type Uptime = { data: number; down: number };

/** The exact figures for the requirements of tiers. `score` is in units of 10⁻⁹. */
export type TierFigures = {
  score: number;
  uptime: { [days in 7 | 30 | 90]: Uptime };
  /** The tests of the worst run; 0 of 0 if it does not count. */
  tests: { passing: number; total: number };
  endorsements: number;
  /** Whether the dampened successes of 30 days exceed a number. */
  successesAbove: (count: number) => boolean;
};

type Tier = {
  name: StewardTier;
  /** The lowest score, in units of 10⁻⁹. */
  from: number;
  discoveryRank: number;
  /** Each figure must be strictly greater (T015). Shares are in percent. */
  needs?: { days: 7 | 30 | 90; uptime: number; coverage: number; endorsements: number; successes?: number };
};

/** The tiers of T015, the lowest first. */
export const STEWARD_TIERS: readonly Tier[] = [
  { name: "UNVERIFIED", from: 0, discoveryRank: -10 },
  {
    name: "VERIFIED",
    from: 500_000_000,
    discoveryRank: 0,
    needs: { days: 7, uptime: 90, coverage: 50, endorsements: 3 },
  },
  {
    name: "TRUSTED",
    from: 800_000_000,
    discoveryRank: 10,
    needs: { days: 30, uptime: 95, coverage: 80, endorsements: 10, successes: 100 },
  },
  {
    name: "HIGHLY_TRUSTED",
    from: 950_000_000,
    discoveryRank: 20,
    needs: { days: 90, uptime: 99, coverage: 90, endorsements: 50, successes: 1_000 },
  },
];

/** The advised limit of delegations per day to an agent in the tier `UNVERIFIED`. */
export const UNVERIFIED_DELEGATIONS_PER_DAY = 10;

/**
 * The number of the highest tier that the score reaches. All requirements of this tier and of the lower tiers hold.
 */
export function stewardTierOf(figures: TierFigures): number {
  let reached = 0;
  for (const [number, { from, needs }] of STEWARD_TIERS.entries()) {
    if (needs === undefined) continue;
    if (figures.score < from || !meets(figures, needs)) break;
    reached = number;
  }
  return reached;
}

function meets(figures: TierFigures, needs: NonNullable<Tier["needs"]>): boolean {
  return needsIn(figures, needs).every(({ is_met }) => is_met);
}

/** One requirement of a tier: the figure must be strictly greater than `above`. */
export type Requirement = { tier: StewardTier; metric: string; above: number; is_met: boolean };

/** Every requirement of every tier, the lowest tier first. */
export function requirementsOf(figures: Omit<TierFigures, "score">): Requirement[] {
  return STEWARD_TIERS.flatMap(({ name, needs }) =>
    needs === undefined ? [] : needsIn(figures, needs).map((it) => ({ tier: name, ...it })),
  );
}

function needsIn(
  { uptime, tests, endorsements, successesAbove }: Omit<TierFigures, "score">,
  { days, ...needs }: NonNullable<Tier["needs"]>,
): Omit<Requirement, "tier">[] {
  const { data, down } = uptime[days];
  const isUp = hasEnoughData(data, days) && 100 * (data - down) > needs.uptime * data;
  const isTested = 100 * tests.passing > needs.coverage * tests.total;
  const { successes } = needs;
  return [
    { metric: `uptime_${days}d`, above: needs.uptime / 100, is_met: isUp },
    { metric: "test_coverage", above: needs.coverage / 100, is_met: isTested },
    { metric: "endorsements", above: needs.endorsements, is_met: endorsements > needs.endorsements },
    ...(successes === undefined
      ? []
      : [{ metric: "successful_delegations", above: successes, is_met: successesAbove(successes) }]),
  ];
}

/** Whether at least three quarters of the slots of this many days have data. */
export function hasEnoughData(data: number, days: number): boolean {
  return 4 * data >= 3 * days * SLOTS_PER_DAY;
}

/** A score as text for people. */
export function shareText(nano: number): string {
  return `${Math.floor(nano / NANO)}.${String(nano % NANO).padStart(9, "0")}`;
}
