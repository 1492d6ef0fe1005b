import { expect } from "chai";
import { eq, sql } from "drizzle-orm";
import fc from "fast-check";
import { formatRational, rational } from "tallystick-derive/rational";
import { reputationOf } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import { parseUsdc } from "tallystick-protocol/amount";
import * as schema from "../../indexer/ponder.schema.ts";
import { publishedFigures } from "../../indexer/src/publishedFigures.ts";
import { cast, openApiStory } from "./support/apiStory.ts";

const ID = `0x${"5".repeat(40)}`;

/** Sums of weights of 1/size, as the derivation stores them. */
const sum = (most: number) =>
  fc
    .tuple(fc.nat(most), fc.integer({ min: 1, max: 12 }))
    .map(([n, d]) => formatRational(rational(BigInt(n), BigInt(d))));

/**
 * With this factor, a sum has as many digits as a sum over 150,000 different cluster sizes. It is neither a whole
 * number nor half of a published unit.
 */
const LARGE = 7n ** 80_000n;
const largeSum = fc
  .tuple(fc.nat(1_000), fc.constantFrom(3n, 11n, 13n))
  .map(([n, d]) => `${(BigInt(n) * d + 1n) * LARGE}/${d * LARGE}`);

const figures = fc.record({
  successWeight: sum(500),
  ratedWeight: sum(500),
  windowWeight: sum(3_000_000),
  dayVolume: sum(2_000_000_000),
  avgStars: fc.option(fc.nat(5_000_000_000).map((n) => formatRational(rational(BigInt(n), 1_000_000_000n)))),
  independentBuyers: fc.nat(2_000),
  kept: fc.bigInt({ min: 0n, max: 3_000_000_000n }),
  windowDirect: fc.nat(2_000),
  unreceipted: fc.nat(2_000),
  privateListings: fc.nat(1),
});

describe("publishedFigures", () => {
  it("are the same in SQL as in reputationOf, including the buckets of private agents", async () => {
    const { database, derived } = await openApiStory();
    const model = derived.store.rows("agent").get(cast.modest) as Row<"agent">;
    const db = database.database;
    const { agent } = schema;
    await db.insert(agent).values({ ...model, id: ID });
    try {
      await fc.assert(
        fc.asyncProperty(figures, fc.nat(7), largeSum, async (others, kind, large) => {
          const weights = { successWeight: large, ratedWeight: large, windowWeight: large, dayVolume: large };
          const some = { ...others, ...(kind === 0 ? weights : {}) };
          await db.update(agent).set(some).where(eq(agent.id, ID));
          const [row] = await db
            .select({
              successRate: sql<string>`${publishedFigures.successRate(agent)}`,
              hires: sql<string>`${publishedFigures.hires(agent)}`,
              volume: sql<string>`${publishedFigures.volume(agent)}`,
              stars: sql<string>`${publishedFigures.stars(agent)}`,
              families: sql<string>`${publishedFigures.families(agent)}`,
              kept: sql<string>`${publishedFigures.kept(agent)}`,
              coverage: sql<string>`${publishedFigures.coverage(agent)}`,
            })
            .from(agent)
            .where(eq(agent.id, ID));
          const published = reputationOf({ ...model, ...some }, null, []);
          expect(Number(row?.successRate)).to.equal(published.success_rate ?? -1);
          expect(Number(row?.hires)).to.equal(published.last_30d_hire_count);
          expect(BigInt(Math.round(Number(row?.volume)))).to.equal(parseUsdc(published.last_24h_volume_usdc));
          expect(Number(row?.stars)).to.equal(published.avg_stars ?? -1);
          expect(Number(row?.families)).to.equal(published.independent_buyers);
          expect(BigInt(row?.kept ?? "")).to.equal(parseUsdc(published.kept_usdc));
          expect(Number(row?.coverage)).to.equal(published.receipt_coverage ?? -1);
        }),
        { numRuns: 60 },
      );
    } finally {
      await db.delete(agent).where(eq(agent.id, ID));
    }
  });
});
