import { expect } from "chai";
import { graphqlServer } from "../../../indexer/api/graphql/server.ts";
import { type Answer, type ApiStory, cast, node, openApiStory } from "../support/apiStory.ts";

const { busy, modest, secret } = cast;

describe("GraphQL: insights", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  const rest = async (path: string) =>
    (await (await story.app.request(`/v1/insights/${path}`)).json()) as never;

  it("rank the same agents as REST, page by page, without private ones", async () => {
    const { leaders } = (await rest("capabilities/text.task0/leaderboard?limit=50")) as {
      leaders: { agent_id: string; in_capability: { hires: number } }[];
    };
    type Page = {
      nodes: { agent: { address: string }; inCapability: { hires: number } }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
    };
    const found: Page["nodes"] = [];
    for (let after: string | null = null; ; ) {
      const { insights }: { insights: { leaderboard: Page } } = await story.ask(
        `query ($after: String) { insights { leaderboard(capability: "text.task0", first: 1, after: $after) {
          nodes { agent { address } inCapability { hires } } pageInfo { hasNextPage endCursor } } } }`,
        { after },
      );
      found.push(...insights.leaderboard.nodes);
      if (!insights.leaderboard.pageInfo.hasNextPage) break;
      after = insights.leaderboard.pageInfo.endCursor;
    }
    expect(found.map(({ agent }) => agent.address)).to.deep.equal([busy, modest]);
    expect(found.map(({ agent, inCapability }) => [agent.address, inCapability.hires])).to.deep.equal(
      leaders.map((it) => [it.agent_id, it.in_capability.hires]),
    );
  });

  it("give the same trends, series and percentiles as REST", async () => {
    const { insights } = await story.ask<{ insights: Record<string, unknown> }>(`{ insights {
      trends { totalCount nodes { capability window { hires } last7Days { hires } previous7Days { hires } } }
      agentSeries(agent: "${busy}", days: 7) { from to days { day figures { hires volumeUsdc } } }
      capabilitySeries(capability: "code.review") { days { figures { hires weightedHires } } }
      agentPercentiles(agent: "${busy}") { sample complete byBuyerTrustTier { buyerTrustTier hires latencyMsP95 priceUsdcP50 } } } }`);
    const { capabilities } = (await rest("capabilities")) as {
      capabilities: { capability: string; window: { hires: number }; last_7_days: { hires: number } }[];
    };
    const trends = insights.trends as {
      totalCount: number;
      nodes: { capability: string; window: object; last7Days: object; previous7Days: object }[];
    };
    expect(trends.nodes.map(({ capability }) => capability)).to.deep.equal(
      capabilities.map((it) => it.capability),
    );
    expect(trends.totalCount).to.equal(capabilities.length);
    for (const [at, { window, last7Days, previous7Days }] of trends.nodes.entries()) {
      expect(window).to.deep.equal({ hires: capabilities[at]?.window.hires });
      expect(last7Days).to.deep.equal({ hires: capabilities[at]?.last_7_days.hires });
      expect(previous7Days).to.deep.equal({ hires: 0 });
    }
    expect(insights.agentSeries).to.have.nested.property("days[0].figures.hires", 43);
    expect(insights.capabilitySeries).to.have.nested.property("days[0].figures.hires", 4);
    expect(insights.agentPercentiles).to.deep.include({ sample: 43, complete: true });
  });

  it("show nothing about agents with private metrics, or about unknown agents", async () => {
    for (const field of ["agentSeries", "agentPercentiles"]) {
      const code = (agent: string) =>
        story.codeOf(`{ insights { ${field}(agent: "${agent}") { __typename } } }`);
      expect(await code(secret)).to.equal("PRIVATE_METRICS");
      expect(await code(`0x${"9".repeat(40)}`)).to.equal("NOT_FOUND");
    }
    expect(await story.codeOf(`{ insights { agentSeries(agent: "${busy}", days: 0) { from } } }`)).to.equal(
      "INVALID_ARGUMENT",
    );
  });

  it("are not free on a node that sells them", async () => {
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    const yoga = graphqlServer({ db: story.database.db, operations, node, insightsAreFree: false });
    const response = await yoga.fetch("http://node/graphql?query={insights{trends{totalCount}}}");
    const { errors } = (await response.json()) as Answer;
    expect(errors?.[0]?.extensions.code).to.equal("PAYMENT_REQUIRED");
  });
});
