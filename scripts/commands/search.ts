import { type Command, Option } from "commander";
import { plainText } from "tallystick-runtime/plainText";
import type { SearchRequest } from "tallystick-sdk/query/answers";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { z } from "zod";
import { decimalNumber, wholeNumber } from "../cli/parseOption.ts";
import {
  addQueryOptions,
  answer,
  moment,
  nodeAt,
  number,
  percent,
  type QueryOptions,
  table,
} from "../query/nodeQuery.ts";

type Options = QueryOptions & {
  maxPrice?: string;
  maxLatency?: number;
  minSuccessRate?: number;
  minStars?: number;
  minTier?: number;
  minIndependent?: number;
  minCoverage?: number;
  minKept?: string;
  mode?: string;
  minVersion?: string;
  clarification?: boolean;
  audited?: boolean;
  erc8004?: boolean;
  stewardTier?: NonNullable<SearchRequest["steward_tier"]>;
  minStewardScore?: number;
  includeSuspended?: boolean;
  orderBy?: NonNullable<SearchRequest["order_by"]>;
  limit?: number;
  cursor?: string;
};

/** The fields of the answer that people are shown. */
const foundForm = z.object({
  agents: z.array(
    z.object({
      agent_id: z.string(),
      cluster_size: z.int(),
      listing: z.object({ price_usdc: z.string(), max_latency_ms: z.int(), payment_mode: z.string() }),
      reputation: z.object({
        trust_tier: z.int(),
        success_rate: z.number().nullable(),
        last_30d_hire_count: z.number(),
        avg_stars: z.number().nullable(),
        independent_buyers: z.number(),
        kept_usdc: z.string(),
      }),
      steward: z
        .object({ score: z.number(), tier: z.string(), suspended_until: z.number().nullish() })
        .nullish(),
    }),
  ),
  next_cursor: z.string().nullable(),
});

type Found = z.output<typeof foundForm>;

/** `tallystick search CAPABILITY`: live listings, best first by the published ranking. */
export function registerSearch(program: Command): void {
  addQueryOptions(
    program
      .command("search")
      .description("Search live listings of a capability, best first by the published ranking.")
      .argument("<capability>", "like text.translate.en.it")
      .option("--max-price <usdc>", 'highest price, like "0.50"')
      .option(
        "--max-latency <ms>",
        "the longest latency that a listing may promise",
        wholeNumber("--max-latency"),
      )
      .option(
        "--min-success-rate <rate>",
        "from 0 to 1; agents without hires are left out",
        decimalNumber("--min-success-rate"),
      )
      .option("--min-stars <stars>", "from 0 to 5", decimalNumber("--min-stars"))
      .option("--min-tier <tier>", "0, 1 or 2", wholeNumber("--min-tier"))
      .option(
        "--min-independent <buyers>",
        "the lowest number of independent families of wallets that bought",
        wholeNumber("--min-independent"),
      )
      .option(
        "--min-coverage <rate>",
        "from 0 to 1: the share of direct payments with a receipt",
        decimalNumber("--min-coverage"),
      )
      .option("--min-kept <usdc>", "what buyers paid and did not get back")
      .option("--mode <mode>", 'direct, platform_escrow:<id>, or "platform_escrow:*" for any')
      .option("--min-version <version>", "lowest verification version, like v1")
      .option("--clarification", "only listings with clarification before a hire")
      .option("--audited", "only listings that agree to audits")
      .option("--erc8004", "only agents that have an identity of ERC-8004")
      .addOption(
        new Option("--steward-tier <tier>", "this tier of the trust score or a higher one").choices([
          ...["UNVERIFIED", "VERIFIED", "TRUSTED", "HIGHLY_TRUSTED"],
        ]),
      )
      .option(
        "--min-steward-score <score>",
        "the lowest trust score, from 0 to 1",
        decimalNumber("--min-steward-score"),
      )
      .option("--include-suspended", "also agents that take no new hires now because they broke their SLA")
      .addOption(
        new Option("--order-by <order>", "the order; all but ranking put the highest value first").choices([
          ...["ranking", "steward_score", "independent_buyers", "kept_usdc", "receipt_coverage"],
        ]),
      )
      .option("--limit <count>", "how many, at most 100", wholeNumber("--limit"))
      .option("--cursor <cursor>", "continue where a page ended"),
  ).action(async (capability: string, options: Options) => {
    const found = await nodeAt(options).search(requestOf(capability, options));
    const shown = readServiceAnswer(foundForm, found, { what: "The node's answer to the search" });
    answer(options, found, () => describe(shown));
  });
}

function requestOf(capability: string, options: Options): SearchRequest {
  return {
    capability,
    max_price_usdc: options.maxPrice ?? null,
    max_latency_ms: options.maxLatency ?? null,
    min_success_rate: options.minSuccessRate ?? null,
    min_avg_stars: options.minStars ?? null,
    min_trust_tier: options.minTier ?? null,
    min_independent_buyers: options.minIndependent ?? null,
    min_receipt_coverage: options.minCoverage ?? null,
    min_kept_usdc: options.minKept ?? null,
    payment_mode: options.mode ?? null,
    min_verification_version: options.minVersion ?? null,
    clarification_supported: options.clarification ?? null,
    audited: options.audited ?? null,
    erc8004: options.erc8004 ?? null,
    steward_tier: options.stewardTier ?? null,
    min_steward_score: options.minStewardScore ?? null,
    include_suspended: options.includeSuspended ?? null,
    order_by: options.orderBy ?? null,
    cursor: options.cursor ?? null,
    ...(options.limit !== undefined && { limit: options.limit }),
  };
}

function describe({ agents, next_cursor }: Found): string {
  const rows = agents.map(({ agent_id, listing, reputation, cluster_size, steward }) => [
    agent_id,
    reputation.trust_tier,
    percent(reputation.success_rate),
    number(reputation.last_30d_hire_count),
    number(reputation.avg_stars),
    reputation.independent_buyers,
    `$${reputation.kept_usdc}`,
    `$${listing.price_usdc}`,
    `${listing.max_latency_ms} ms`,
    listing.payment_mode,
    cluster_size > 1 ? `of ${cluster_size}` : "–",
    scoreOf(steward),
  ]);
  const head = [
    "agent",
    "tier",
    "success",
    "hires",
    "stars",
    "indep.",
    "kept",
    "price",
    "within",
    "mode",
    "cluster",
    "trust score",
  ];
  const more = next_cursor === null ? [] : [`More: --cursor ${plainText(next_cursor)}`];
  return [table(head, rows, "Nobody offers this within these limits."), ...more].join("\n");
}

function scoreOf(steward: Found["agents"][number]["steward"]): string {
  if (!steward) return "–";
  const until = steward.suspended_until;
  const ends = until ? ` suspended until ${moment(until)}` : "";
  return `${steward.score.toFixed(3)} ${steward.tier}${ends}`;
}
