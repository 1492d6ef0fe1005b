import { expect } from "chai";
import { createApi } from "../../../../indexer/api/app.ts";
import { graphqlServer } from "../../../../indexer/api/graphql/server.ts";
import { type ApiStory, cast, node, openApiStory } from "../../support/apiStory.ts";
import { paymentsInMemory } from "../../support/paidInsights.ts";

const { busy, secret, ring, funder } = cast;

describe("REST: the market, clusters and escrows", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  const get = async <Answer>(path: string): Promise<Answer> => {
    const response = await story.app.request(path);
    expect(response.status, await response.clone().text()).to.equal(200);
    expect(response.headers.get("etag")).to.be.a("string");
    expect(response.headers.get("tallystick-as-of")).to.be.a("string");
    return (await response.json()) as Answer;
  };
  const problemOf = async (path: string) => {
    const response = await story.app.request(path);
    return [response.status, ((await response.json()) as { code: string }).code];
  };

  it("gives the same market figures as GraphQL", async () => {
    type Market = { counts: Record<string, unknown>; window: { hires: number }; days: { hires: number }[] };
    const market = await get<Market>("/v1/market?days=366");
    const { market: same } = await story.ask<{ market: { counts: Record<string, unknown> } }>(
      "{ market { counts { agents sellers listings heldUsdc escrowsHeld } } }",
    );
    const { agents, sellers, listings, held_usdc: heldUsdc, escrows_held: escrowsHeld } = market.counts;
    expect({ agents, sellers, listings, heldUsdc, escrowsHeld }).to.deep.equal(same.counts);
    expect(market.days.reduce((sum, { hires }) => sum + hires, 0)).to.equal(market.window.hires);
  });

  it("gives capabilities and clusters a page at a time, in each order", async () => {
    for (const [path, list, orders] of [
      ["/v1/capabilities", "capabilities", ["listings", "hires", "name"]],
      ["/v1/clusters", "clusters", ["formed", "size"]],
    ] as const) {
      for (const order of orders) {
        type Listed = { next_cursor: string | null } & Record<string, object[]>;
        const all = await get<Listed>(`${path}?order=${order}`);
        const rows: object[] = [];
        for (let cursor = ""; ; ) {
          const page = await get<Listed>(`${path}?order=${order}&limit=1${cursor}`);
          rows.push(...(page[list] ?? []));
          if (page.next_cursor === null) break;
          cursor = `&cursor=${page.next_cursor}`;
        }
        expect(rows, `${path} by ${order}`).to.deep.equal(all[list]).and.to.have.length.above(0);
      }
    }
  });

  it("gives a cluster's graph by its id only", async () => {
    type Listed = { clusters: { cluster_id: string; kind: string }[] };
    const { clusters } = await get<Listed>("/v1/clusters");
    const id = clusters.find(({ kind }) => kind === "ownership")?.cluster_id;
    type Graph = {
      nodes: { address: string; depth: number }[];
      edges: object[];
      signals: { funder: string }[];
      is_whole: boolean;
    };
    const graph = await get<Graph>(`/v1/clusters/${id}/graph`);
    expect(graph.nodes.filter(({ depth }) => depth === 0).map(({ address }) => address)).to.have.members(
      ring,
    );
    expect(graph.signals.every((it) => it.funder === funder)).to.equal(true);
    expect(graph.is_whole).to.equal(true);
    expect((await get<Graph>(`/v1/clusters/${id}/graph?members=1`)).is_whole).to.equal(false);
    expect(await problemOf("/v1/clusters/clst_none/graph")).to.deep.equal([404, "unknown_cluster"]);
    for (const bad of [`${id}'`, "x", `clst_${"a".repeat(300)}`, "clst_%00"])
      expect((await problemOf(`/v1/clusters/${encodeURIComponent(bad)}/graph`))[0], bad).to.equal(400);
    for (const members of ["0", "-1", "5001", "1e3", "x"])
      expect((await problemOf(`/v1/clusters/${id}/graph?members=${members}`))[0], members).to.equal(400);
  });

  it("lists an agent's counterparties, and the history of its rates", async () => {
    type Answer = { counterparties: { agent_id: string; figures: { hires: number } | null }[] };
    const { counterparties } = await get<Answer>(`/v1/agents/${busy}/counterparties`);
    expect(counterparties[0]?.figures?.hires).to.be.above(0);
    const { counterparties: sellers } = await get<Answer>(
      `/v1/agents/${cast.buyers[0]}/counterparties?as=buyer`,
    );
    expect(sellers.map((it) => it.agent_id))
      .to.include(busy)
      .and.not.include(secret);
    const { counterparties: hidden } = await get<Answer>(`/v1/agents/${secret}/counterparties`);
    expect(hidden.every(({ figures }) => figures === null)).to.equal(true);
    expect(await problemOf(`/v1/agents/0x${"9".repeat(40)}/counterparties`)).to.deep.equal([
      404,
      "unknown_agent",
    ]);
    const { days } = await get<{ days: object[] }>(`/v1/insights/agents/${busy}/history?days=7`);
    expect(days).to.have.length(7);
    expect(await problemOf(`/v1/insights/agents/${secret}/history`)).to.deep.equal([403, "private_metrics"]);
    for (const days of ["0", "367", "-1", "99999999999999999999"])
      expect((await problemOf(`/v1/insights/agents/${busy}/history?days=${days}`))[0], days).to.equal(400);
  });

  it("gives an escrow with its transactions, in any spelling of its id", async () => {
    const [row] = [...story.derived.store.rows("escrow").values()].filter((it) => it.status === "released");
    const id = row?.id ?? "";
    const found = await get<{ status: string; steps: { kind: string }[] }>(
      `/v1/escrows/0x${id.slice(2).toUpperCase()}`,
    );
    expect(found.status).to.equal("released");
    expect(found.steps.map(({ kind }) => kind)).to.deep.equal(["deposited", "delivered", "released"]);
    expect(await problemOf(`/v1/escrows/0x${"0".repeat(64)}`)).to.deep.equal([404, "unknown_escrow"]);
    expect((await problemOf("/v1/escrows/1"))[0]).to.equal(400);
  });

  it("hides the figures of capabilities if insights are sold, also in cursors, and refuses to order by them", async () => {
    const sold = graphqlServer({
      db: story.database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      insightsAreFree: false,
    });
    const ask = async (query: string) => {
      const response = await sold.fetch(`http://node.example/graphql?query=${encodeURIComponent(query)}`);
      return (await response.json()) as {
        data: { capabilities: { nodes: { window: null }[] }; agent: object } | null;
        errors?: { extensions: { code: string } }[];
      };
    };
    const { data } = await ask(
      `{ capabilities { nodes { listings window { hires } series { from } } } agent(address: "${busy}") { history { from } series { from } } }`,
    );
    expect(data?.capabilities.nodes).to.have.length.above(3);
    for (const row of data?.capabilities.nodes ?? []) expect(row).to.include({ window: null, series: null });
    expect(data?.agent).to.deep.equal({ history: null, series: null });
    const refused = await ask("{ capabilities(orderBy: HIRES) { nodes { capability } } }");
    expect(refused.errors?.[0]?.extensions.code).to.equal("PAYMENT_REQUIRED");
    // A cursor has the figures of its order, so the default order is another one here.
    const page = "{ nodes { capability } pageInfo { endCursor } }";
    const pages = await ask(
      `{ first: capabilities(first: 2) ${page} same: capabilities(first: 2, orderBy: LISTINGS) ${page} }`,
    );
    const { first, same } = pages.data as unknown as { first: object; same: object };
    expect(first).to.deep.equal(same);
  });

  it("hides the same figures in REST", async () => {
    const app = createApi({
      db: story.database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
      insightsPrice: {
        ...{ amount: 1n, payTo: busy, chainId: node.chainId, facilitator: "http://127.0.0.1:9" },
        token: { address: cast.hub, name: "USDC", version: "2" },
        store: paymentsInMemory(),
      },
    });
    const answer = await app.request("/v1/capabilities");
    const { capabilities } = (await answer.json()) as { capabilities: { window: object | null }[] };
    expect(capabilities).to.have.length.above(3);
    for (const row of capabilities) expect(row).to.include({ window: null });
    const byHires = await app.request("/v1/capabilities?order=hires");
    expect([byHires.status, ((await byHires.json()) as { code: string }).code]).to.deep.equal([
      400,
      "invalid_input",
    ]);
  });

  it("refuses a cursor of another list", async () => {
    const { next_cursor } = await get<{ next_cursor: string }>("/v1/capabilities?order=listings&limit=1");
    expect(await problemOf(`/v1/capabilities?order=name&cursor=${next_cursor}`)).to.deep.equal([
      400,
      "invalid_cursor",
    ]);
    expect(await problemOf(`/v1/clusters?order=size&cursor=${next_cursor}`)).to.deep.equal([
      400,
      "invalid_cursor",
    ]);
  });

  it("lets pages of every origin read every route and its headers", async () => {
    const origin = "https://explorer.example";
    for (const path of [
      "/v1/market",
      "/v1/rules",
      "/openapi.json",
      "/tlog/checkpoint",
      "/v1/ledger/entries",
      "/nothing",
    ]) {
      const { headers } = await story.app.request(path, { headers: { origin } });
      expect(headers.get("access-control-allow-origin"), path).to.equal("*");
      expect(headers.get("access-control-expose-headers"), path)
        .to.include("etag")
        .and.include("x-ledger-size");
      expect(headers.get("access-control-allow-credentials"), path).to.equal(null);
    }
    for (const [path, method] of [
      ["/graphql", "POST"],
      ["/v1/search", "POST"],
      ["/v1/records", "POST"],
      ["/v1/market", "GET"],
    ]) {
      const { status, headers } = await story.app.request(path ?? "", {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": method ?? "",
          "access-control-request-headers": "content-type,accept,idempotency-key",
        },
      });
      expect(status, path).to.be.within(200, 204);
      expect(headers.get("access-control-allow-origin"), path).to.equal("*");
      expect(headers.get("access-control-allow-methods"), path).to.include(method);
      expect(headers.get("access-control-allow-headers"), path).to.include("content-type");
    }
    const query = encodeURIComponent("subscription { hireCounted { position } }");
    const stream = await story.app.request(`/graphql?query=${query}`, {
      headers: { origin, accept: "text/event-stream" },
    });
    expect(stream.headers.get("content-type")).to.include("text/event-stream");
    expect(stream.headers.get("access-control-allow-origin")).to.equal("*");
    await stream.body?.cancel();
  });
});
