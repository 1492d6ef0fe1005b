import { expect } from "chai";
import { type GraphQLObjectType, getNamedType, isLeafType } from "graphql";
import { graphqlSchema } from "../../../indexer/api/graphql/schema.ts";
import { type ApiStory, cast, openApiStory } from "../support/apiStory.ts";

type Nodes<T> = { nodes: T[] };
const { busy, modest, secret, ring } = cast;

describe("GraphQL: agents of a market", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  const addresses = async (args: string): Promise<string[]> => {
    const { agents } = await story.ask<{ agents: Nodes<{ address: string }> }>(
      `{ agents(first: 100, ${args}) { nodes { address } } }`,
    );
    return agents.nodes.map(({ address }) => address);
  };

  describe("agents", () => {
    it("are narrowed by every filter, alone and together", async () => {
      const sellers = [busy, modest, secret];
      expect(await addresses('where: {capability: "text.task0"}')).to.have.members(sellers);
      expect(await addresses('where: {capability: "text.task1"}')).to.deep.equal([busy]);
      expect(await addresses('where: {capability: "text.nothing"}')).to.deep.equal([]);
      const task = 'capability: "text.task0", ';
      expect(await addresses(`where: {${task} maxPriceUsdc: "0.5"}`)).to.have.members([busy, secret]);
      expect(await addresses(`where: {${task} maxPriceUsdc: "0.05"}`)).to.deep.equal([]);
      expect(await addresses(`where: {${task} maxLatencyMs: 50}`)).to.deep.equal([modest]);
      expect(await addresses(`where: {${task} paymentMode: "platform_escrow:*"}`)).to.deep.equal([busy]);
      expect(await addresses(`where: {${task} paymentMode: "platform_escrow:other"}`)).to.deep.equal([]);
      expect(await addresses(`where: {${task} minSuccessRate: 0.9}`)).to.deep.equal([busy]);
      expect(await addresses(`where: {${task} minTrustTier: 2}`)).to.deep.equal([busy]);
      expect(await addresses("where: {minTrustTier: 2}")).to.deep.equal([busy]);
      expect(await addresses("where: {minTrustTier: 3}")).to.deep.equal([]);
      expect(await addresses("where: {minAvgStars: 4}")).to.deep.equal([secret]);
      expect(await addresses("where: {clustered: true}")).to.have.members(ring);
      expect(await addresses('where: {clustered: false, maxPriceUsdc: "0.15"}')).to.deep.equal([busy]);
      expect(await addresses('where: {paymentMode: "platform_escrow:*"}')).to.deep.equal([busy]);
      const { clusters } = await story.ask<{ clusters: Nodes<{ id: string }> }>(
        "{ clusters(where: {kind: OWNERSHIP}) { nodes { id } } }",
      );
      const id = clusters.nodes[0]?.id;
      expect(await addresses(`where: {clusterId: "${id}"}`)).to.have.members(ring);
      expect(await addresses(`where: {clusterId: "${id}", maxPriceUsdc: "0.1"}`)).to.deep.equal([]);
      expect(await addresses(`where: {clusterId: "${id}", capability: "code.review"}`)).to.have.members(ring);
      expect(await addresses('where: {clusterId: "clst_none"}')).to.deep.equal([]);
    });

    it("come in every order, the best first, and agents without a figure last", async () => {
      const figures = {
        SUCCESS_RATE: (it: { success_rate: number | null }) => it.success_rate,
        HIRES: (it: { last_30d_hire_count: number }) => it.last_30d_hire_count,
        VOLUME: (it: { last_24h_volume_usdc: string }) => Number(it.last_24h_volume_usdc),
        STARS: (it: { avg_stars: number | null }) => it.avg_stars,
        INDEPENDENT_BUYERS: (it: { independent_buyers: number }) => it.independent_buyers,
        KEPT_USDC: (it: { kept_usdc: string }) => Number(it.kept_usdc),
        RECEIPT_COVERAGE: (it: { receipt_coverage: number | null }) => it.receipt_coverage,
      };
      for (const [order, figure] of Object.entries(figures)) {
        const found = await addresses(`orderBy: ${order}`);
        expect(found).to.have.members(Object.keys(story.derived.agents));
        const values = found.map((id) => figure(story.derived.agents[id] as never) ?? -1);
        expect(values, order).to.deep.equal([...values].sort((a, b) => b - a));
      }
      expect((await addresses("orderBy: RANK"))[0]).to.equal(busy);
      expect(await addresses("orderBy: NEWEST")).to.deep.equal(
        (await addresses("orderBy: REGISTERED")).reverse(),
      );
    });

    it("are reversed in the other direction over all pages, like all other lists", async () => {
      const lists: [list: string, own: "ASC" | "DESC"][] = [
        ["agents(ARGS)", "ASC"],
        ["agents(ARGS, orderBy: NEWEST)", "DESC"],
        ["agents(ARGS, orderBy: STARS)", "DESC"],
        ["agents(ARGS, orderBy: KEPT_USDC)", "DESC"],
        ["agents(ARGS, where: {clustered: false})", "ASC"],
        ["hires(ARGS)", "DESC"],
        [`hires(ARGS, where: {seller: "${busy}"})`, "DESC"],
        ["escrows(ARGS)", "DESC"],
        ["clusters(ARGS)", "ASC"],
        ["tierChanges(ARGS)", "DESC"],
      ];
      for (const [list, own] of lists) {
        const read = async (args: string) => {
          const query = `{ list: ${list.replace("ARGS", args)} { nodes { id } pageInfo { hasNextPage endCursor } } }`;
          type Page = {
            list: Nodes<{ id: string }> & { pageInfo: { hasNextPage: boolean; endCursor: string } };
          };
          return (await story.ask<Page>(query)).list;
        };
        const whole = (await read("first: 100")).nodes.map(({ id }) => id);
        expect(whole, list).to.have.length.above(0);
        const same = await read(`first: 100, orderDirection: ${own}`);
        expect(
          same.nodes.map(({ id }) => id),
          list,
        ).to.deep.equal(whole);
        const found: string[] = [];
        for (let after = ""; ; ) {
          const page = await read(`first: 2, orderDirection: ${own === "ASC" ? "DESC" : "ASC"}${after}`);
          found.push(...page.nodes.map(({ id }) => id));
          if (!page.pageInfo.hasNextPage) break;
          after = `, after: "${page.pageInfo.endCursor}"`;
        }
        expect(found, list).to.deep.equal(whole.reverse());
      }
    });

    it("come with the tick of the answer; an answer about the schema has no tick", async () => {
      const asOfOf = async (query: string) => {
        const response = await story.app.request(`/graphql?query=${encodeURIComponent(query)}`);
        const { extensions } = (await response.json()) as { extensions?: { asOf?: object } };
        return extensions?.asOf;
      };
      const { asOf, digest } = story.derived;
      expect(await asOfOf("{ agents(first: 1) { nodes { id } } }")).to.deep.equal({ ...asOf, digest });
      expect(await asOfOf("{ __schema { types { name } } }")).to.equal(undefined);
    });

    it("keep their own directions if one request asks for several lists", async () => {
      const { agent } = await story.ask<{ agent: { [name in "up" | "down"]: Nodes<{ id: string }> } }>(
        `query ($a: Address!) { agent(address: $a) { up: hires(first: 100, orderDirection: ASC) { nodes { id } }
          down: hires(first: 100) { nodes { id } } } }`,
        { a: busy },
      );
      expect(agent.up.nodes).to.have.length.above(1);
      expect(agent.up.nodes).to.deep.equal(agent.down.nodes.toReversed());
    });

    it("are each listed once over the pages of any order, forward and backward, also in a filtered list", async () => {
      for (const args of [
        "orderBy: SUCCESS_RATE",
        "orderBy: STARS",
        "orderBy: VOLUME",
        "where: {clustered: false}",
      ]) {
        const whole = await addresses(args);
        for (const [size, cursor, more] of [
          ["first", "after", "hasNextPage"],
          ["last", "before", "hasPreviousPage"],
        ] as const) {
          const found: string[] = [];
          for (let at = ""; ; ) {
            const { agents } = await story.ask<{
              agents: Nodes<{ address: string }> & { pageInfo: Record<string, string | boolean> };
            }>(
              `{ agents(${size}: 3, ${args}${at}) { nodes { address } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
            );
            const page = agents.nodes.map((it) => it.address);
            if (size === "first") found.push(...page);
            else found.unshift(...page);
            if (!agents.pageInfo[more]) break;
            at = `, ${cursor}: "${agents.pageInfo[size === "first" ? "endCursor" : "startCursor"]}"`;
          }
          expect(found, `${args} ${size}`).to.deep.equal(whole);
        }
      }
    });

    it("refuse impossible filters", async () => {
      for (const where of [
        'capability: "x"',
        'maxPriceUsdc: "1e3"',
        'paymentMode: "gold"',
        'maxPriceUsdc: "-1"',
      ]) {
        expect(await story.codeOf(`{ agents(where: {${where}}) { nodes { id } } }`), where).to.equal(
          "INVALID_ARGUMENT",
        );
      }
    });

    it("have the same value for a field alone and together with all others, in any form of query", async () => {
      type Agents = { agents: { nodes?: object[]; edges?: { node: object }[] } };
      const fields = Object.values((graphqlSchema.getType("Agent") as GraphQLObjectType).getFields())
        .filter(({ type }) => isLeafType(getNamedType(type)))
        .map(({ name }) => name);
      expect(fields).to.have.length.above(25);
      const selections = [...fields, "cluster { id size }", "avgCostPerCapability { capability medianUsdc }"];
      const all = await story.ask<Agents>(`{ agents(first: 100) { nodes { ${selections.join(" ")} } } }`);
      for (const selection of selections) {
        const name = selection.split(" ")[0] as "id";
        const wanted = all.agents.nodes?.map((it) => ({ [name]: (it as { id: unknown })[name] }));
        const { agents: alone } = await story.ask<Agents>(
          `{ agents(first: 100) { nodes { ${selection} } } }`,
        );
        expect(alone.nodes, name).to.deep.equal(wanted);
        const { agents: inFragments } = await story.ask<Agents>(
          `{ agents(first: 100) { edges { ...E } } } fragment E on AgentEdge { node { ...A } } fragment A on Agent { ... on Node { ... on Agent { ${selection} } } }`,
        );
        expect(
          inFragments.edges?.map(({ node }) => node),
          name,
        ).to.deep.equal(wanted);
      }
    });

    it("are counted only on request; the lists of a private agent are counted only to a power of ten", async () => {
      story.database.statements = 0;
      await story.ask("{ agents(first: 1) { nodes { id } } }");
      // One statement for the list, and one for its tick.
      expect(story.database.statements).to.equal(2);
      const { agents } = await story.ask<{ agents: { totalCount: number } }>(
        "{ agents(first: 0) { totalCount } }",
      );
      expect(agents.totalCount).to.equal(Object.keys(story.derived.agents).length);
      const query = `query ($a: Address!) { agent(address: $a) { hires { totalCount } ratings { totalCount } receipts { totalCount } }
        hires(where: {seller: $a}) { totalCount } }`;
      const count = { totalCount: 43 };
      expect(await story.ask(query, { a: busy })).to.deep.equal({
        agent: { hires: count, ratings: { totalCount: 6 }, receipts: { totalCount: 41 } },
        hires: count,
      });
      expect(await story.ask(query, { a: secret })).to.deep.equal({
        agent: { hires: { totalCount: 10 }, ratings: { totalCount: 1 }, receipts: { totalCount: 10 } },
        hires: { totalCount: 10 },
      });
    });
  });

  describe("private metrics", () => {
    it("are buckets in every field, order, filter, cursor and explanation", async () => {
      const exact = story.derived.store.rows("agent").get(secret);
      expect(exact).to.include({ windowHires: 23, latencies: 23 });
      const { agent } = await story.ask<{ agent: Record<string, unknown> }>(
        `query ($a: Address!) { agent(address: $a) { privateMetrics successRate last30dHireCount last30dHireCountRaw distinctBuyers
          totalRatings avgLatencyMs avgCostPerCapability { capability } explain(field: SUCCESS_RATE) {
          value numerator denominator hires { nodes { id } } } stars: explain(field: AVG_STARS) { ratings { nodes { id } } } } }`,
        { a: secret },
      );
      expect(agent).to.deep.equal({
        privateMetrics: true,
        successRate: 0.8,
        last30dHireCount: 10,
        last30dHireCountRaw: 10,
        distinctBuyers: 1,
        totalRatings: 1,
        avgLatencyMs: 128,
        avgCostPerCapability: [],
        explain: { value: 0.8, numerator: null, denominator: null, hires: null },
        stars: { ratings: null },
      });
      // 20 of 23 hires succeeded. This is 0.8696, but the filter uses only the published 0.8.
      expect(await addresses('where: {capability: "text.task0", minSuccessRate: 0.8}')).to.include(secret);
      expect(await addresses('where: {capability: "text.task0", minSuccessRate: 0.81}')).not.to.include(
        secret,
      );
      for (const [order, key] of [
        ["SUCCESS_RATE", "0.8"],
        ["HIRES", "10"],
        ["VOLUME", "10000000"],
      ]) {
        const { agents } = await story.ask<{
          agents: { edges: { cursor: string; node: { address: string } }[] };
        }>(`{ agents(first: 100, orderBy: ${order}) { edges { cursor node { address } } } }`);
        const edge = agents.edges.find(({ node }) => node.address === secret);
        const cursor = JSON.parse(Buffer.from(edge?.cursor ?? "", "base64url").toString());
        expect(Number(cursor[0]), order).to.equal(Number(key));
      }
    });
  });
});
