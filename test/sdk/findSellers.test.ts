import { expect } from "chai";
import { findSellers, type Wishes } from "../../sdk/buyer/findSellers.ts";
import type { FoundAgent, SearchClient } from "../../sdk/buyer/searchClient.ts";
import type { SearchRequest } from "../../sdk/query/answers.ts";
import { rejection } from "./support/tamper.ts";

const CAPABILITY = "compute.statistics.mean";
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

/** A market of 250 that sell directly, and behind them one that sells by escrow. */
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
  const sellersOf = async (changes?: Partial<Wishes>) =>
    (await findSellers(client, wishes(changes))).map(({ listing }) => listing.agent_id);

  it("takes the first page when somebody there will do, in its order", async () => {
    expect(await sellersOf()).to.deep.equal(market.slice(0, 100).map(({ agent_id }) => agent_id));
    expect(asked).to.have.length(1);
  });

  it("looks further for one seller, and for any escrow", async () => {
    expect(await sellersOf({ seller: addressOf(240) })).to.deep.equal([addressOf(240)]);
    expect(asked.map(({ cursor }) => cursor)).to.deep.equal([undefined, "100", "200"]);
    expect(await sellersOf({ mode: "escrow" })).to.deep.equal([addressOf(251)]);
  });

  it("gives up at the end, and says whether only the list of escrows is in the way", async () => {
    expect(await rejection(sellersOf({ seller: addressOf(500) }))).to.include({ code: "no_seller" });
    const none = await rejection(sellersOf({ mode: "escrow", allowsEscrow: () => false }));
    expect(none).to.include({ code: "no_recovery" });
  });

  it("gives up on a search that never ends", async () => {
    const endless: SearchClient = {
      search: async (request) => {
        asked.push(request);
        return { agents: market.slice(0, 1), next_cursor: "again" };
      },
    };
    const error = await rejection(findSellers(endless, wishes({ mode: "escrow" })));
    expect(error).to.include({ code: "no_seller" });
    expect(asked).to.have.length(20);
  });
});
