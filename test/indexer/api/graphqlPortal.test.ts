import { expect } from "chai";
import { createQueryClient } from "tallystick-sdk/query/createQueryClient";
import { wallet } from "../../derive/eventLog.ts";
import { type ApiStory, cast, LEDGER, openApiStory } from "../support/apiStory.ts";

type Page<T> = {
  nodes: T[];
  totalCount: number;
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string; startCursor: string };
};
const { busy, modest, secret, ring, funder } = cast;

describe("GraphQL: the queries of the portal's pages", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  describe("listings", () => {
    type Listing = { agentAddress: string; priceUsdc: string; block: number; capability: string };
    const listings = async (args: string) => {
      const { listings } = await story.ask<{ listings: Page<Listing> }>(
        `{ listings${args} { nodes { agentAddress priceUsdc block capability } totalCount } }`,
      );
      return listings;
    };

    it("give every live listing, and the cheapest first for a capability", async () => {
      const live = [...story.derived.store.rows("listing").values()].filter((it) => it.live);
      expect((await listings("(first: 100)")).totalCount).to.equal(live.length);
      const { nodes } = await listings('(orderBy: PRICE, where: {capability: "text.task0"})');
      const prices = nodes.map(({ priceUsdc }) => Number(priceUsdc));
      expect(prices).to.have.length(live.filter((it) => it.capability === "text.task0").length);
      expect(prices).to.deep.equal([...prices].sort((a, b) => a - b));
      expect(nodes.at(-1)?.agentAddress).to.equal(modest);
    });

    it("have the same ranking as a search, and the latest first on request", async () => {
      const search = await story.app.request("/v1/search", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ capability: "text.task0" }),
      });
      const { agents } = (await search.json()) as { agents: { agent_id: string }[] };
      const ranked = await listings('(where: {capability: "text.task0"})');
      expect(ranked.nodes.map((it) => it.agentAddress)).to.deep.equal(agents.map((it) => it.agent_id));
      const { nodes } = await listings("(orderBy: NEWEST, first: 3)");
      expect(nodes.map((it) => it.capability)).to.deep.equal(Array(3).fill("code.review"));
    });

    it("are filtered by mode, price, latency and tier, and refuse impossible filters", async () => {
      const count = async (where: string) => (await listings(`(where: {${where}})`)).nodes.length;
      expect(await count('capability: "text.task0", paymentMode: "platform_escrow:*"')).to.equal(1);
      expect(await count('capability: "text.task0", maxLatencyMs: 50')).to.equal(1);
      expect(await count('capability: "text.task0", maxPriceUsdc: "0.000001"')).to.equal(0);
      expect(await count("minTrustTier: 3")).to.equal(0);
      expect(await story.codeOf('{ listings(where: {paymentMode: "cash"}) { totalCount } }')).to.equal(
        "INVALID_ARGUMENT",
      );
      expect(await story.codeOf("{ listings(orderBy: PRICE) { totalCount } }")).to.equal("INVALID_ARGUMENT");
    });
  });

  it("give agents by their addresses, in the given order, and null for an address that is not an agent", async () => {
    const none = `0x${"9".repeat(40)}`;
    const { agentsByAddress } = await story.ask<{ agentsByAddress: ({ id: string } | null)[] }>(
      `{ agentsByAddress(addresses: ["${secret}", "${none}", "${busy.toUpperCase().replace("0X", "0x")}", "${secret}"]) { id } }`,
    );
    expect(agentsByAddress.map((it) => it?.id ?? null)).to.deep.equal([secret, null, busy, secret]);
    const many = JSON.stringify(Array(101).fill(busy));
    expect(await story.codeOf(`{ agentsByAddress(addresses: ${many}) { id } }`)).to.equal("PAGE_TOO_LARGE");
  });

  it("order clusters by their size", async () => {
    const { clusters } = await story.ask<{ clusters: Page<{ id: string; size: number }> }>(
      "{ clusters(orderBy: SIZE) { nodes { id size } totalCount } }",
    );
    const live = [...story.derived.store.rows("cluster").values()].filter(
      (it) => it.mergedInto === null && it.size > 0,
    );
    const sizes = clusters.nodes.map(({ size }) => size);
    expect(sizes).to.deep.equal(live.map(({ size }) => size).sort((a, b) => b - a));
    const small = await story.ask<{ clusters: Page<unknown> }>(
      "{ clusters(orderBy: SIZE, where: {minSize: 1000}) { totalCount } }",
    );
    expect(small.clusters.totalCount).to.equal(0);
  });

  describe("a cluster's graph", () => {
    type Graph = {
      nodes: {
        address: string;
        isMember: boolean;
        depth: number;
        kind: string | null;
        agent: object | null;
      }[];
      edges: { from: string; to: string; amountUsdc: string; reason: string }[];
      signals: { signal: string; funder: string; members: string[]; memberCount: number; dropped: boolean }[];
      isWhole: boolean;
    };
    const graphOf = async (args = "") => {
      const { agent } = await story.ask<{ agent: { cluster: { kind: string; graph: Graph } } }>(
        `{ agent(address: "${ring[0]}") { cluster { kind graph${args} {
          nodes { address isMember depth kind agent { id last30dHireCount last30dHireCountRaw } }
          edges { from to amountUsdc reason } signals { signal funder members memberCount dropped } isWhole } } } }`,
      );
      return agent.cluster.graph;
    };

    it("has its members, the wallets that fund them, every transfer and every signal", async () => {
      const { nodes, edges, signals, isWhole } = await graphOf();
      expect(isWhole).to.equal(true);
      expect(nodes.filter((it) => it.isMember).map((it) => it.address)).to.have.members(ring);
      const depths = Object.fromEntries(nodes.map(({ address, depth, kind }) => [address, [depth, kind]]));
      expect(depths[funder]).to.deep.equal([1, null]);
      expect(depths[wallet(97)]).to.deep.equal([2, null]);
      for (const member of ring) {
        expect(edges).to.deep.include({
          from: funder,
          to: member,
          amountUsdc: "5.00",
          reason: "FUNDING",
        });
      }
      const trips = [...story.derived.store.rows("trip").values()];
      expect(signals).to.have.length(trips.length).above(0);
      for (const [n, trip] of trips.sort((a, b) => Number(a.id) - Number(b.id)).entries()) {
        const members = trip.members.split(",");
        expect(signals[n]).to.deep.include({ funder, members, memberCount: members.length, dropped: false });
      }
    });

    it("shows when it is not complete, and refuses an impossible number of members", async () => {
      const { nodes, isWhole } = await graphOf("(members: 2)");
      expect(nodes.filter((it) => it.isMember)).to.have.length(2);
      expect(isWhole).to.equal(false);
      for (const members of [0, -1, 5_001, 2_147_483_647])
        expect(
          await story.codeOf(
            `{ agent(address: "${ring[0]}") { cluster { graph(members: ${members}) { isWhole } } } }`,
          ),
        ).to.equal("INVALID_ARGUMENT");
    });
  });

  describe("a ledger's entries", () => {
    type Entry = { seq: number; type: string; record: { signer: string } | null };
    const fields =
      "nodes { seq type record { signer } } totalCount pageInfo { hasNextPage hasPreviousPage endCursor startCursor }";
    const entries = async (args: string) => {
      const { ledgerEntries } = await story.ask<{ ledgerEntries: Page<Entry> }>(
        `{ ledgerEntries(ledger: "${LEDGER}"${args}) { ${fields} } }`,
      );
      return ledgerEntries;
    };

    it("come page by page from both ends, each entry once", async () => {
      const size = story.derived.store.rows("record").size + 1;
      for (const direction of ["ASC", "DESC"]) {
        const seen: number[] = [];
        for (let after = ""; ; ) {
          const page = await entries(`, first: 37, orderDirection: ${direction}${after}`);
          expect(page.totalCount).to.equal(size);
          seen.push(...page.nodes.map(({ seq }) => seq));
          if (!page.pageInfo.hasNextPage) break;
          after = `, after: "${page.pageInfo.endCursor}"`;
        }
        const all = Array.from({ length: size }, (_, n) => n);
        expect(seen).to.deep.equal(direction === "ASC" ? all : all.reverse());
      }
      const latest = await entries(", first: 1");
      expect(latest.nodes[0]).to.deep.equal({ seq: size - 1, type: "settlement", record: null });
      const before = await entries(`, last: 3, orderDirection: ASC, before: "${cursorOf(["5"])}"`);
      expect(before.nodes.map(({ seq }) => seq)).to.deep.equal([2, 3, 4]);
      expect(before.pageInfo).to.include({ hasNextPage: true, hasPreviousPage: true });
    });

    it("of one type are the records or the generic work of that type", async () => {
      const listings = [...story.derived.store.rows("record").values()].filter((it) => it.type === "listing");
      const page = await entries(', recordType: "listing", orderDirection: ASC');
      expect(page.nodes.map(({ seq }) => seq)).to.deep.equal(listings.map(({ seq }) => seq).slice(0, 20));
      expect(page.totalCount).to.equal(listings.length);
      expect((await entries(', workType: "settlement"')).nodes).to.have.length(1);
      expect((await entries(', recordType: "\' OR 1=1"')).nodes).to.have.length(0);
    });

    it("are found by their hash, both records and generic work", async () => {
      const [record] = story.derived.store.rows("record").values();
      for (const hash of [record?.hash, "9e".repeat(32)]) {
        const found = await story.ask<{ ledgerEntryByHash: { hash: string } }>(
          `{ ledgerEntryByHash(hash: "${hash}") { hash } }`,
        );
        expect(found.ledgerEntryByHash.hash).to.equal(hash);
      }
      expect(await story.ask('{ ledgerEntryByHash(hash: "x") { hash } }')).to.deep.equal({
        ledgerEntryByHash: null,
      });
    });

    it("give a buyer's client the listing as its seller signed it", async () => {
      const { agents } = (await (
        await story.app.request("/v1/search", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ capability: "text.task0", limit: 1 }),
        })
      ).json()) as { agents: [{ agent_id: string; listing: { entry_hash: string; endpoint: string } }] };
      const [{ agent_id, listing }] = agents;
      const node = createQueryClient({
        baseUrl: "http://node.test",
        fetch: async (input, init) => await story.app.request(input.replace("http://node.test", ""), init),
      });
      const { ledgerEntryByHash: entry } = await node.graphql.signedRecord({ hash: listing.entry_hash });
      expect(entry?.record?.body).to.include({ agent_id, endpoint: listing.endpoint });
      expect(entry?.record?.signature).to.match(/^0x[0-9a-f]+$/);
    });

    it("of an unknown ledger are an empty list; a cursor out of range gives nothing, and an invalid cursor is refused", async () => {
      expect(await story.ask('{ ledgerEntries(ledger: "0x00") { totalCount nodes { id } } }')).to.deep.equal({
        ledgerEntries: { totalCount: 0, nodes: [] },
      });
      expect((await entries(`, after: "${cursorOf(["0"])}"`)).nodes).to.have.length(0);
      expect((await entries(`, after: "${cursorOf(["-999999"])}"`)).nodes).to.have.length(0);
      expect(
        (await entries(`, orderDirection: ASC, after: "${cursorOf(["999999999999999"])}"`)).nodes,
      ).to.have.length(0);
      for (const cursor of [cursorOf(["a"]), cursorOf(["1", "2"]), cursorOf([1]), "x"])
        expect(
          await story.codeOf(`{ ledgerEntries(ledger: "${LEDGER}", after: "${cursor}") { totalCount } }`),
        ).to.equal("INVALID_CURSOR");
      const both = 'recordType: "listing", workType: "settlement"';
      expect(await story.codeOf(`{ ledgerEntries(ledger: "${LEDGER}", ${both}) { totalCount } }`)).to.equal(
        "INVALID_ARGUMENT",
      );
    });
  });

  it("gives the market's totals from stored sums, and each capability with its offers", async () => {
    type Market = {
      counts: Record<string, number | string>;
      window: { hires: number };
      allTime: { hires: number };
      series: { days: { figures: { hires: number; volumeUsdc: string } }[] };
    };
    const { market } = await story.ask<{ market: Market }>(
      "{ market { counts { agents sellers listings capabilities escrowsHeld heldUsdc } window { hires } allTime { hires } series(days: 366) { days { figures { hires volumeUsdc } } } } }",
    );
    const hires = story.derived.store.rows("hire").size;
    expect(market.window.hires).to.equal(hires);
    expect(market.allTime.hires).to.equal(hires);
    expect(market.series.days.reduce((sum, { figures }) => sum + figures.hires, 0)).to.equal(hires);
    expect(market.counts).to.include({
      agents: story.derived.store.rows("agent").size,
      escrowsHeld: 1,
      capabilities: 5,
    });

    type Offered = {
      capability: string;
      listings: number;
      sellers: number;
      lowestPriceUsdc: string;
      medianPriceUsdc: string;
      window: { hires: number };
    };
    const fields = "capability listings sellers lowestPriceUsdc medianPriceUsdc window { hires }";
    const named = async (args: string) =>
      (await story.ask<{ capabilities: Page<Offered> }>(`{ capabilities${args} { nodes { ${fields} } } }`))
        .capabilities.nodes;
    const names = (nodes: Offered[]) => nodes.map(({ capability }) => capability);
    expect(names(await named("(orderBy: NAME)"))).to.deep.equal([
      "code.review",
      "text.task0",
      "text.task1",
      "text.task2",
      "text.task3",
    ]);
    expect(names(await named(""))[0]).to.equal("text.task0");
    expect(names(await named("(orderBy: LISTINGS)"))[0]).to.equal("code.review");
    const { capability } = await story.ask<{ capability: Offered }>(
      `{ capability(name: "text.task0") { ${fields} } }`,
    );
    const prices = [...story.derived.store.rows("listing").values()]
      .filter((it) => it.capability === "text.task0")
      .map(({ price }) => price);
    expect(capability).to.include({ listings: prices.length, sellers: 3, lowestPriceUsdc: "0.10" });
    expect(await story.ask('{ capability(name: "no.such") { capability } }')).to.deep.equal({
      capability: null,
    });
    for (const days of [0, -1, 367])
      expect(await story.codeOf(`{ market { series(days: ${days}) { from } } }`)).to.equal(
        "INVALID_ARGUMENT",
      );
  });

  it("lists the counterparties of an agent, and hides their figures for a private agent", async () => {
    type Answer = { agent: { counterparties: Page<{ address: string; figures: { hires: number } | null }> } };
    const of = async (address: string, args = "") =>
      (
        await story.ask<Answer>(
          `{ agent(address: "${address}") { counterparties${args} { totalCount nodes { address figures { hires } } } } }`,
        )
      ).agent.counterparties;
    const { nodes } = await of(busy, "(first: 100)");
    const hires = [...story.derived.store.rows("hire").values()];
    const bought = Map.groupBy(
      hires.filter((it) => it.seller === busy),
      (it) => it.buyer,
    );
    expect(nodes).to.have.length(bought.size);
    for (const { address, figures } of nodes) expect(figures?.hires).to.equal(bought.get(address)?.length);
    const counts = nodes.map(({ figures }) => figures?.hires ?? 0);
    expect(counts).to.deep.equal([...counts].sort((a, b) => b - a));
    const buyer = cast.buyers[0] ?? busy;
    const sellers = (await of(buyer, "(as: BUYER)")).nodes.map((it) => it.address);
    expect(sellers).to.include(busy).and.not.include(secret);
    const hidden = await of(secret);
    expect(hidden.nodes.every(({ figures }) => figures === null)).to.equal(true);
    expect(hidden.totalCount).to.equal(1);
    // The order and the cursor do not show how often each buyer hired this agent.
    const buyers = hidden.nodes.map(({ address }) => address);
    expect(buyers)
      .to.deep.equal([...buyers].sort())
      .and.to.have.length(8);
    const { agent } = await story.ask<{ agent: { counterparties: Page<unknown> } }>(
      `{ agent(address: "${secret}") { counterparties(first: 2) { nodes { address } pageInfo { endCursor } } } }`,
    );
    const place = Buffer.from(agent.counterparties.pageInfo.endCursor, "base64url").toString();
    expect(JSON.parse(place)).to.deep.equal([`${secret}/${buyers[1]}`]);
  });

  it("gives the history of an agent's rates, which ends with the published rates", async () => {
    type Rates = { day: string; hires: number; weightedHires: number; successRate: number };
    const of = async (address: string, days = 40) =>
      (
        await story.ask<{
          agent: {
            history: { days: Rates[] } | null;
            successRate: number;
            last30dHireCountRaw: number;
            last30dHireCount: number;
          };
        }>(
          `{ agent(address: "${address}") { history(days: ${days}) { days { day hires weightedHires successRate } } successRate last30dHireCountRaw last30dHireCount } }`,
        )
      ).agent;
    for (const address of [busy, ring[0] ?? busy]) {
      const { history, ...now } = await of(address);
      expect(history?.days).to.have.length(40);
      const last = history?.days.at(-1);
      expect(last).to.include({ hires: now.last30dHireCountRaw, successRate: now.successRate });
      expect(last?.weightedHires).to.be.closeTo(now.last30dHireCount, 1e-5);
      expect(history?.days[0]?.successRate).to.equal(null);
    }
    expect((await of(secret)).history).to.equal(null);
    const { agent, insights, hidden } = await story.ask<{
      agent: { series: object };
      insights: { agentSeries: object };
      hidden: { series: null };
    }>(`{
      agent(address: "${busy}") { series(days: 9) { from to days { day figures { hires } } } }
      insights { agentSeries(agent: "${busy}", days: 9) { from to days { day figures { hires } } } }
      hidden: agent(address: "${secret}") { series { from } }
    }`);
    expect(agent.series).to.deep.equal(insights.agentSeries);
    expect(hidden).to.deep.equal({ series: null });
    expect(await story.codeOf(`{ agent(address: "${busy}") { history(days: 1000000) { from } } }`)).to.equal(
      "INVALID_ARGUMENT",
    );
  });

  it("names the transactions of an escrow, and the one that ended it", async () => {
    type Escrow = {
      id: string;
      status: string;
      tx: string;
      settlementTx: string | null;
      steps: { kind: string; tx: string }[];
    };
    const { escrows } = await story.ask<{ escrows: Page<Escrow> }>(
      "{ escrows(first: 100) { nodes { id status tx settlementTx steps { kind tx block } } } }",
    );
    const fates = Object.fromEntries(
      escrows.nodes.map(({ status, steps }) => [`${status} ${steps.length}`, steps.map(({ kind }) => kind)]),
    );
    expect(fates).to.deep.equal({
      "HELD 1": ["DEPOSITED"],
      "RELEASED 3": ["DEPOSITED", "DELIVERED", "RELEASED"],
      "REFUNDED 3": ["DEPOSITED", "DELIVERED", "REFUNDED"],
      "TIMED_OUT 3": ["DEPOSITED", "DELIVERED", "TIMED_OUT"],
      "TIMED_OUT 2": ["DEPOSITED", "TIMED_OUT"],
    });
    for (const { status, settlementTx, steps } of escrows.nodes)
      expect(settlementTx).to.equal(status === "HELD" ? null : steps.at(-1)?.tx);
  });

  it("names the contracts that the node reads, and the domain that payers of its token sign for", async () => {
    const { meta } = await story.ask<{ meta: object }>(
      "{ meta { token { address decimals domainName } contracts { anchoredLedger escrows { address provider } } } }",
    );
    const escrows = Object.entries(
      JSON.parse(story.derived.store.rows("state").get("state")?.params ?? "{}").escrows,
    ).map(([address, provider]) => ({
      address,
      provider,
    }));
    expect(meta).to.deep.equal({
      token: { address: `0x${"70".repeat(20)}`, decimals: 6, domainName: null },
      contracts: { anchoredLedger: null, escrows },
    });
  });
});

function cursorOf(place: unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}
