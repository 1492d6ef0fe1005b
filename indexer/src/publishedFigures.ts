import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/**
 * The published figures of an agent as SQL over its row, for lists in their order. They are the numbers that
 * `reputationOf` gives, with buckets for private agents. So an order or a cursor never reveals more than the agent's
 * page. −1 means null and comes last. The indexes in ponder.schema.ts and the queries share these expressions, since
 * Postgres uses an index only for the same expression.
 */
export const publishedFigures = {
  successRate: ({
    successWeight,
    ratedWeight,
    privateListings,
  }: Columns<"successWeight" | "ratedWeight">) => {
    const [part, whole] = [fraction(successWeight), fraction(ratedWeight)];
    const rate = sql`round((${part.n} * ${whole.d}) / (${part.d} * ${whole.n}), 9)`;
    return sql`(CASE WHEN ${ratedWeight} = '0' THEN -1 WHEN ${privateListings} > 0 THEN floor(${rate} * 10) / 10 ELSE ${rate} END)`;
  },
  hires: ({ windowWeight, privateListings }: Columns<"windowWeight">) => {
    const { n, d } = fraction(windowWeight);
    return sql`(CASE WHEN ${privateListings} > 0 THEN ${powerOfTen(sql`trunc(${n} / ${d})`)} ELSE round(${n} / ${d}, 9) END)`;
  },
  /** In atomic units. */
  volume: ({ dayVolume, privateListings }: Columns<"dayVolume">) => {
    const { n, d } = fraction(dayVolume);
    const units = sql`trunc(round(${n} / ${d}) / 1000000)`;
    return sql`(CASE WHEN ${privateListings} > 0 THEN ${powerOfTen(units)} * 1000000 ELSE round(${n} / ${d}) END)`;
  },
  stars: ({ avgStars, privateListings }: Columns<"avgStars">) => {
    const { n, d } = fraction(avgStars);
    return sql`(CASE WHEN ${avgStars} IS NULL THEN -1 WHEN ${privateListings} > 0 THEN floor(round(${n} / ${d}, 9) * 2) / 2 ELSE round(${n} / ${d}, 9) END)`;
  },
  families: ({ independentBuyers, privateListings }: Columns<"independentBuyers">) =>
    sql`(CASE WHEN ${privateListings} > 0 THEN ${powerOfTen(sql`${independentBuyers}::numeric`)} ELSE ${independentBuyers}::numeric END)`,
  /** In atomic units. */
  kept: ({ kept, privateListings }: Columns<"kept">) =>
    sql`(CASE WHEN ${privateListings} > 0 THEN ${powerOfTen(sql`trunc(${kept} / 1000000)`)} * 1000000 ELSE ${kept} END)`,
  coverage: ({ windowDirect, unreceipted, privateListings }: Columns<"windowDirect" | "unreceipted">) => {
    const all = sql`(${windowDirect} + ${unreceipted})`;
    const rate = sql`round(${windowDirect}::numeric / ${all}, 9)`;
    return sql`(CASE WHEN ${all} = 0 THEN -1 WHEN ${privateListings} > 0 THEN floor(${rate} * 10) / 10 ELSE ${rate} END)`;
  },
};

type Columns<Name extends string> = { [column in Name | "privateListings"]: SQLWrapper };

/** The digits of a numerator or a denominator that are read. Postgres computes with 131,072 digits at most. */
const DIGITS = 1_000;

/**
 * A fraction stored as text, `n` or `n/d`. Weights of a ring that had very many sizes have tens of thousands of digits on
 * either side. The numerator and the denominator then lose the same number of last digits. Their lengths differ by a few
 * digits only, so this changes the fraction by less than 10⁻⁹⁰⁰.
 */
function fraction(column: SQLWrapper): { n: SQL; d: SQL } {
  const n = sql`split_part(${column}, '/', 1)`;
  const d = sql`coalesce(nullif(split_part(${column}, '/', 2), ''), '1')`;
  const tooMany = sql`greatest(length(${n}) - ${sql.raw(String(DIGITS))}, length(${d}) - ${sql.raw(String(DIGITS))}, 0)`;
  const shortened = (digits: SQL) => sql`left(${digits}, length(${digits}) - ${tooMany})::numeric`;
  return { n: shortened(n), d: shortened(d) };
}

/** The largest power of ten that a whole number reaches; 0 for 0. */
function powerOfTen(whole: SQL): SQL {
  return sql`(CASE WHEN ${whole} = 0 THEN 0 ELSE ('1' || repeat('0', length(${whole}::text) - 1))::numeric END)`;
}
