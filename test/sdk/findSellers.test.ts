import { expect } from "chai";
import { findSellers, type Wishes } from "tallystick-sdk/buyer/findSellers";
import type { FoundAgent, SearchClient } from "tallystick-sdk/buyer/searchClient";
import type { SearchRequest } from "tallystick-sdk/query/answers";
import { rejection } from "./support/tamper.ts";

const CAPABILITY = "compute.statistics.mean";
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

/** A market of 250 sellers in direct mode, and after them one seller in escrow mode. */
const market: FoundAgent[] = Array.from({ length: 251 }, (_, n) => ({
  agent_id: addressOf(n + 1),
  listing: {
    capability: CAPABILITY,
    price_usdc: "0.05",
    max_latency_ms: 1_000,
    endpoint: "https://seller.example",
    payment_mode: n === 250 ? "platform_escrow:acme" : "direct",
  },
  reputation: { success_rate: null },
}));

describe("the search for sellers", () => {
  let asked: SearchRequest[];
  beforeEach(() => {
    asked = [];
  });
  const client: SearchClient = {
    search: async (request) => {
      asked.push(request);
      const [from, limit] = [Number(request.cursor ?? 0), request.limit ?? 20];
      const next = from + limit < market.length ? String(from + limit) : null;
      return { agents: market.slice(from, from + limit), next_cursor: next };
    },
  };
  const wishes = (changes: Partial<Wishes> = {}): Wishes => ({
    capability: CAPABILITY,
    maxPrice: 100_000n,
    maxLatencyMs: 5_000,
    mode: "direct",
    allowsEscrow: (mode) => mode === "platform_escrow:acme",
    buyer: addressOf(999),
    ...changes,
  });
  const all = async (sellers: ReturnType<typeof findSellers>) => {
    const found: string[] = [];
    for await (const { listing } of sellers) found.push(listing.agent_id);
    return found;
  };
  const sellersOf = (changes?: Partial<Wishes>) => all(findSellers(client, wishes(changes)));

  it("reads the next page only after all sellers of the first page, and keeps the order", async () => {
    const sellers = findSellers(client, wishes());
    for (const { agent_id } of market.slice(0, 100)) {
      const { value } = await sellers.next();
      expect(value?.listing.agent_id).to.equal(agent_id);
    }
    expect(asked).to.have.length(1);
    await sellers.next();
    expect(asked).to.have.length(2);
  });

  it("reads more pages for one wanted seller, and for a seller in escrow mode", async () => {
    expect(await sellersOf({ seller: addressOf(240) })).to.deep.equal([addressOf(240)]);
    expect(asked.map(({ cursor }) => cursor)).to.deep.equal([undefined, "100", "200"]);
    expect(await sellersOf({ mode: "escrow" })).to.deep.equal([addressOf(251)]);
  });

  it("ends after the last page, and has another code if only the list of escrows excludes the sellers", async () => {
    expect(await rejection(sellersOf({ seller: addressOf(500) }))).to.include({ code: "no_seller" });
    const none = await rejection(sellersOf({ mode: "escrow", allowsEscrow: () => false }));
    expect(none).to.include({ code: "no_recovery" });
    expect(none).to.have.deep.property("paymentModes", ["platform_escrow:acme"]);
    expect(none.message, "the seller chose this name").not.to.contain("acme");
  });

  it("gives avoided sellers last, after the sellers of all pages", async () => {
    const isAvoided = (agent: string) => agent === addressOf(1);
    const sellers = await all(findSellers(client, wishes(), { isAvoided }));
    expect(sellers).to.have.length(250);
    expect(sellers.at(-1)).to.equal(addressOf(1));
  });

  it("refuses a suspended seller with the reason, and uses other sellers instead", async () => {
    const [first, second] = market as [FoundAgent, FoundAgent];
    for (const [until, says] of [
      [1_800_000_000, /until 2027-01-15T08:00:00.000Z: it broke its SLA/],
      [1e300, /until 9999-/],
      ["soon", /until 9999-/],
    ] as const) {
      const suspended = { ...first, steward: { suspended_until: until as number } };
      const some: SearchClient = { search: async () => ({ agents: [suspended, second], next_cursor: null }) };
      expect(await all(findSellers(some, wishes()))).to.deep.equal([second.agent_id]);
      const error = await rejection(all(findSellers(some, wishes({ seller: first.agent_id }))));
      expect(error).to.include({ code: "seller_suspended" });
      expect(error.message).to.match(says);
      const any = wishes({ seller: first.agent_id, allowSuspended: true });
      expect(await all(findSellers(some, any))).to.deep.equal([first.agent_id]);
    }
    await sellersOf({ seller: addressOf(1) });
    expect(asked.at(-1)).to.include({ include_suspended: true });
    await sellersOf();
    expect(asked.at(-1)).to.not.have.property("include_suspended");
    await sellersOf({ allowSuspended: true });
    expect(asked.at(-1)).to.include({ include_suspended: true });
  });

  it("ends after 20 pages if the pages have no end", async () => {
    const endless: SearchClient = {
      search: async (request) => {
        asked.push(request);
        return { agents: market.slice(0, 1), next_cursor: "again" };
      },
    };
    const error = await rejection(all(findSellers(endless, wishes({ mode: "escrow" }))));
    expect(error).to.include({ code: "no_seller" });
    expect(asked).to.have.length(20);
  });
});
