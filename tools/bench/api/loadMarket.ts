import type pg from "pg";
import { emptyRow } from "tallystick-derive/emptyRow";
import { searchRankOf } from "tallystick-derive/searchRank";

export type MarketSize = { agents: number; hires: number; clusters: number; largestSeller: number };

/** The number of capabilities in the market. */
export const CAPABILITIES = 200;
export const LARGEST = address(1);
export const BIG_CLUSTER = "clst_big";
const NOW = 1_767_225_600;
const WINDOW = 2_592_000;

export function address(n: number): string {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

/** Few capabilities have most of the agents: `floor(C·(n/N)²)`. */
export function capabilityOf(n: number, agents: number): string {
  return `bench.task${Math.floor(CAPABILITIES * (n / (agents + 1)) ** 2)}`;
}

const hex = (n: string, width = 40) => `'0x' || lpad(to_hex(${n}), ${width}, '0')`;

/**
 * Fills an empty indexer database with a market: agents with one listing each, hires of the last thirty days,
 * one seller with very many hires, clusters of two members, and one cluster of a hundred members. The rows
 * are those that the derivation would make. Agents' sums are added up from the hires, in twelfths. This is exact,
 * because the clusters of hires have at most four members.
 */
export async function loadMarket(
  pool: pg.Pool,
  size: MarketSize,
  say: (text: string) => void,
): Promise<void> {
  const { agents, hires, clusters, largestSeller } = size;
  const capability = `'bench.task' || floor(${CAPABILITIES} * ((n::float8 / ${agents + 1}) ^ 2))::int`;
  say("hires …");
  await pool.query(`
    INSERT INTO hire (id, seller, buyer, hire_id, capability, payment_mode, price, amount, outcome, refunded, dispute,
      silent_timeout, refund_after_delivery, evidence, cluster_size, latency_ms, time, tx, in_window,
      is_canary, counted_block, counted_log)
    SELECT ${hex("h", 64)} || '-1', ${hex("n")}, ${hex(`1 + (h * 7919) % ${agents}`)}, 'hire-' || h, ${capability}, 'direct',
      1000 + (h * 31) % 900000, 1000 + (h * 31) % 900000,
      CASE WHEN (h * 17) % 100 < (n % 12) THEN 'failure' ELSE 'success' END, false, false, false, false, 'buyer',
      CASE WHEN h % 20 = 0 THEN 2 ELSE 1 END, 50 + (h * 13) % 4000, ${NOW - WINDOW} + 60 + (h::bigint * ${WINDOW - 120}) / ${hires},
      ${hex("h", 64)}, true, false, 1000 + h / 10, h % 10
    FROM (SELECT h, CASE WHEN h % ${Math.round(hires / largestSeller)} = 0 THEN 1 ELSE 2 + (h::bigint * 104729) % ${agents - 1} END AS n
      FROM generate_series(1::bigint, ${hires}) h) numbered`);
  say("agents …");
  await insertAgents(pool, size);
  say("listings, clusters, funding and summaries …");
  await pool.query(`
    INSERT INTO listing (id, agent, capability, payment_mode, price_usdc, price, max_latency_ms, endpoint, first_call_free,
      private_metrics, clarification_supported, verification_rank, live, issued_at, hash, block, log, seq, rank, trust_tier,
      success_percent, star_tenths)
    SELECT agent.id || '/' || capability || '/direct', agent.id, capability, 'direct', '0.' || lpad(((n * 37) % 1000000)::text, 6, '0'),
      (n * 37) % 1000000, 100 + (n * 91) % 9000, 'https://agent-' || n || '.example/hire', false, false, n % 10 = 0, n % 3, true, 0,
      lpad(to_hex(n), 64, '0'), 1, 1, n, agent.rank, agent.trust_tier, agent.success_percent, agent.star_tenths
    FROM (SELECT n, ${hex("n")} AS id, ${capability} AS capability FROM generate_series(1, ${agents}) n) numbered
    JOIN agent USING (id)`);
  await pool.query(`
    INSERT INTO capability (id, agent, capability, window_hires, median_price)
    SELECT seller || '/' || capability, seller, capability, count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY price)::text
    FROM hire GROUP BY seller, capability`);
  await pool.query(`
    INSERT INTO cluster (id, kind, ordinal, parent, size, block, time)
    SELECT 'clst_' || k, 'ownership', k, 'clst_' || k, 2, 1, ${NOW} FROM generate_series(1, ${clusters - 1}) k
    UNION ALL SELECT '${BIG_CLUSTER}', 'ownership', ${clusters}, '${BIG_CLUSTER}', 100, 1, ${NOW}`);
  await pool.query(`
    INSERT INTO wallet (id, received, fundings)
    SELECT ${hex("n")}, 5000000, ${hex("900000000 + n / 2")} || ' ' || n || ' ${NOW - WINDOW} 1' FROM generate_series(1, ${agents}) n
    UNION ALL SELECT ${hex("900000000 + k")}, 5000000, ${hex("950000000 + k / 50")} || ' ' || k || ' ${NOW - WINDOW} 2'
    FROM generate_series(0, ${Math.floor(agents / 2)}) k`);
  await summaries(pool);
  await pool.query(`
    INSERT INTO state (id, block, time, ticks, trips, params_version, params, root)
    VALUES ('state', 100000, ${NOW}, 1, 0, 1, '{"windowSeconds":${WINDOW}}', '')`);
  await pool.query("INSERT INTO _ponder_checkpoint (latest_checkpoint) VALUES ($1)", [
    `${NOW}${"31337".padStart(16, "0")}${"100000".padStart(16, "0")}${"9".repeat(33)}`,
  ]);
}

async function summaries(pool: pg.Pool): Promise<void> {
  const weight = "sum(1000000 / cluster_size)";
  const tally = `count(*), ${weight}, count(*) FILTER (WHERE outcome = 'success'),
    count(*) FILTER (WHERE outcome = 'failure'), 0, 0, coalesce(${weight} FILTER (WHERE outcome = 'success'), 0), ${weight},
    sum(price), count(latency_ms), sum(latency_ms)`;
  const columns =
    "hires, weight, successes, failures, refunds, disputes, success_weight, rated_weight, volume, latencies, latency_sum";
  const sums = (table: string, names: string, by: string, group: string) =>
    pool.query(
      `INSERT INTO ${table} (id, ${names}${columns}) SELECT ${by}, ${tally} FROM hire${group && ` GROUP BY ${group}`}`,
    );
  await sums(
    "capability_agent",
    "capability, agent, ",
    "seller || '/' || capability, capability, seller",
    "seller, capability",
  );
  await sums(
    "agent_day",
    "agent, day, ",
    "seller || '/' || time / 86400, seller, time / 86400",
    "seller, time / 86400",
  );
  await sums("agent_pair", "seller, buyer, ", "seller || '/' || buyer, seller, buyer", "seller, buyer");
  await sums("market_day", "day, ", "time / 86400, time / 86400", "time / 86400");
  await sums("market_total", "", "'window'", "");
  await sums("market_total", "", "'all'", "");
  await sums(
    "capability_day",
    "capability, day, ",
    "capability || '/' || time / 86400, capability, time / 86400",
    "capability, time / 86400",
  );
  await pool.query(`INSERT INTO capability_total (id, capability, ${columns}, listings, sellers, lowest_price, median_price)
    SELECT hires.*, offered.listings, offered.listings, lowest, median FROM
      (SELECT capability AS id, capability, ${tally} FROM hire GROUP BY capability) AS hires
      JOIN (SELECT capability, count(*) AS listings, min(price) AS lowest,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY price) AS median FROM listing GROUP BY capability) AS offered USING (capability)`);
  await pool.query(`INSERT INTO market_count (id, agents, sellers, tier1_agents, tier2_agents, clustered_agents, clusters, listings,
      capabilities, ratings, escrows_held, held_amount)
    SELECT 'market', count(*), count(*), 0, 0, count(*), 0, count(*), 0, 0, 0, 0 FROM agent`);
}

type Sums = {
  n: number;
  hires: number;
  weight: number;
  successes: number;
  latencies: number;
  latency_sum: string;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  volume: string;
  buyers: number;
};

async function insertAgents(pool: pg.Pool, { agents, clusters }: MarketSize): Promise<void> {
  const { rows } = await pool.query<Sums & { seller: string }>(`
    SELECT seller, count(*)::int AS hires, sum(12 / cluster_size)::int AS weight,
      (sum(12 / cluster_size) FILTER (WHERE outcome = 'success'))::int AS successes, count(latency_ms)::int AS latencies,
      sum(latency_ms)::text AS latency_sum, percentile_disc(0.5) WITHIN GROUP (ORDER BY latency_ms)::int AS p50,
      percentile_disc(0.95) WITHIN GROUP (ORDER BY latency_ms)::int AS p95,
      percentile_disc(0.99) WITHIN GROUP (ORDER BY latency_ms)::int AS p99,
      coalesce(sum(price * 12 / cluster_size) FILTER (WHERE time > ${NOW - 86_400}), 0)::bigint::text AS volume,
      count(DISTINCT buyer)::int AS buyers
    FROM hire GROUP BY seller`);
  const sums = new Map(rows.map((row) => [row.seller, row]));
  const members = agents - 100;
  for (let from = 1; from <= agents; from += 5_000) {
    const batch = Array.from({ length: Math.min(5_000, agents - from + 1) }, (_, offset) => {
      const n = from + offset;
      const cluster = n > members ? BIG_CLUSTER : `clst_${1 + (Math.floor(n / 2) % (clusters - 1))}`;
      return agentRow(n, cluster, sums.get(address(n)));
    });
    await pool.query("INSERT INTO agent SELECT * FROM jsonb_populate_recordset(NULL::agent, $1)", [
      JSON.stringify(batch),
    ]);
  }
}

/** The initial value of every column of an agent, also of columns that are added later. */
const untouched = Object.fromEntries(
  Object.entries(emptyRow("agent")).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    typeof value === "bigint" ? String(value) : value,
  ]),
);

/** An agent's row as the derivation makes it, with the database's column names. */
function agentRow(n: number, cluster: string, sums: Sums | undefined): object {
  const twelfths = (count: number | null | undefined) => (count ? `${count}/12` : "0");
  const figures = {
    trustTier: n % 10 === 0 ? 2 : n % 4 === 0 ? 1 : 0,
    ratedWeight: twelfths(sums?.weight),
    successWeight: twelfths(sums?.successes),
    windowWeight: twelfths(sums?.weight),
    avgStars: n % 3 === 0 ? null : `${30 + (n % 21)}/10`,
    privateListings: 0,
  };
  const searchRank = searchRankOf(figures);
  return {
    ...untouched,
    id: address(n),
    registered_block: n,
    registered_time: NOW - WINDOW,
    live_listings: 1,
    claim_status: n % 4 === 0 ? "verified" : "unclaimed",
    trust_tier: figures.trustTier,
    ownership_cluster: cluster,
    signals_tripped: "funding_origin",
    window_hires: sums?.hires ?? 0,
    window_weight: figures.windowWeight,
    rated_weight: figures.ratedWeight,
    success_weight: figures.successWeight,
    escrow_weight: "0",
    refunded_weight: "0",
    audit_disputed_weight: "0",
    latencies: sums?.latencies ?? 0,
    latency_sum: sums?.latency_sum ?? "0",
    latency_p50: sums?.p50 ?? null,
    latency_p95: sums?.p95 ?? null,
    latency_p99: sums?.p99 ?? null,
    avg_stars: figures.avgStars,
    total_ratings: n % 3 === 0 ? 0 : 5,
    day_volume: sums ? `${sums.volume}/12` : "0",
    capabilities: sums ? 1 : 0,
    distinct_buyers: sums?.buyers ?? 0,
    bought: 10,
    rank: searchRank.rank,
    success_percent: searchRank.successPercent,
    star_tenths: searchRank.starTenths,
  };
}
