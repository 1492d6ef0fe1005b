import { expect } from "chai";
import fc from "fast-check";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import { EventLog, wallet } from "../derive/eventLog.ts";
import { marketStory } from "./support/apiStory.ts";
import { summariesOf } from "./support/fillTallies.ts";

const all = <T extends Parameters<MemoryStore["rows"]>[0]>(store: MemoryStore, table: T) =>
  [...store.rows(table).values()] as Row<T>[];

/** The offers of each capability, computed from all listings. */
function offersOf(store: MemoryStore): { [capability: string]: object } {
  const live = all(store, "listing").filter((it) => it.live);
  const groups = Object.groupBy(live, (it) => it.capability) as Record<string, Row<"listing">[]>;
  return Object.fromEntries(
    Object.entries(groups).map(([capability, listings]) => {
      const prices = listings.map(({ price }) => price).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const [low, high] = [prices[(prices.length - 1) >> 1] ?? 0n, prices[prices.length >> 1] ?? 0n];
      return [
        capability,
        {
          listings: listings.length,
          sellers: new Set(listings.map(({ agent }) => agent)).size,
          lowestPrice: prices[0],
          medianPrice: (low + high + 1n) / 2n,
        },
      ];
    }),
  );
}

function countsOf(store: MemoryStore): object {
  const agents = all(store, "agent");
  const listings = all(store, "listing").filter((it) => it.live);
  const held = all(store, "escrow").filter((it) => it.status === "held");
  return {
    agents: agents.length,
    sellers: new Set(listings.map(({ agent }) => agent)).size,
    tier1Agents: agents.filter((it) => it.trustTier === 1).length,
    tier2Agents: agents.filter((it) => it.trustTier === 2).length,
    clusteredAgents: agents.filter((it) => it.ownershipCluster !== null || it.fingerprintCluster !== null)
      .length,
    clusters: all(store, "cluster").filter((it) => it.mergedInto === null && it.size > 0).length,
    listings: listings.length,
    capabilities: new Set(listings.map(({ capability }) => capability)).size,
    ratings: all(store, "rating").filter((it) => it.status === "counted").length,
    escrowsHeld: held.length,
    heldAmount: held.reduce((sum, { amount }) => sum + amount, 0n),
  };
}

describe("summaries of the market", () => {
  it("equal a count over all rows", async () => {
    const log = marketStory();
    const { store } = await log.derive();
    const summaries = await summariesOf(log.events);
    const { id, ...counts } = summaries.get("market_count")?.rows.get("market") ?? { id: "" };
    expect(counts).to.deep.equal(countsOf(store));
    expect(counts).to.include({
      escrowsHeld: 1,
      clusters: all(store, "cluster").filter((it) => it.size > 0).length,
    });
  });

  it("have the offers of every capability, after listings are added, changed, retired and restored", async () => {
    const listing = fc.record({
      seller: fc.integer({ min: 1, max: 4 }),
      capability: fc.constantFrom("text.a", "text.b", "text.c"),
      mode: fc.constantFrom("direct", "platform_escrow:swarmwage-partnered"),
      price: fc.constantFrom("0", "0.01", "0.010001", "0.02", "1", "999999.999999", "999999999999"),
      retired: fc.boolean(),
      issued: fc.integer({ min: 0, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(listing, { maxLength: 90 }), async (listings) => {
        const log = new EventLog();
        for (const { seller, capability, mode, price, retired, issued } of listings)
          log.after(1).listing(wallet(seller), capability, {
            payment_mode: mode,
            price_usdc: price,
            issued_at: issued,
            ...(retired && { retired }),
          });
        log.after(1).tick();
        const { store } = await log.derive();
        const summaries = await summariesOf(log.events);
        const rows = [...(summaries.get("capability_total")?.rows.values() ?? [])] as Record<
          string,
          unknown
        >[];
        const offered = rows.filter((row) => row.listings !== 0);
        expect(
          Object.fromEntries(
            offered.map(({ id, listings, sellers, lowestPrice, medianPrice }) => [
              id,
              { listings, sellers, lowestPrice, medianPrice },
            ]),
          ),
        ).to.deep.equal(offersOf(store));
        for (const row of rows.filter((it) => it.listings === 0))
          expect(row).to.include({ sellers: 0, lowestPrice: null, medianPrice: null });
        const { id, ...counts } = (summaries.get("market_count")?.rows.get("market") ?? { id: "" }) as {
          id: string;
        };
        if (listings.length > 0) expect(counts).to.deep.equal(countsOf(store));
      }),
      { numRuns: 40 },
    );
  });
});
