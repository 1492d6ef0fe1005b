import { expect } from "chai";
import type { Hono } from "hono";
import type { Snapshot } from "tallystick-derive/snapshot";
import type { Address } from "tallystick-protocol/address";
import { createApi } from "../../../indexer/api/app.ts";
import type { ClusterResponse, SearchResponse } from "../../../indexer/api/rest/schemas.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { node } from "../support/apiStory.ts";

const operator = wallet(900);
const group = (at: number) => [0, 1, 2, 3].map((n) => wallet(at + n));
const [first, second, third, dissolved] = [group(50), group(40), group(30), group(60)];
const all = [...first, ...second, ...third];
const hub = wallet(99);

/**
 * The third cluster was merged into the second, and the second into the first. The cluster that a hub had formed was
 * dissolved.
 */
function story(): EventLog {
  const log = new EventLog({ operator });
  const fund = (funder: Address, members: Address[], amount: number) => {
    for (const member of members) log.after(1).transfer(funder, member, amount);
  };
  const groups = [first, second, third, dissolved];
  for (const [n, members] of groups.entries()) {
    fund(members === dissolved ? hub : wallet(150 + n), members, 1_000_000);
    for (const member of members) log.after(1, 300).listing(member, `text.task${Number(member)}`);
    for (const member of members) log.listing(member, "code.review");
  }
  fund(wallet(98), [...third.slice(0, 2), ...second.slice(0, 2)], 5_000_000);
  fund(wallet(97), [...second.slice(2), ...first.slice(0, 2)], 9_000_000);
  log.after(1).record("params", operator, { operator, version: 2, hubs: [hub] });
  return log.after(60).tick();
}

describe("clusters that were merged one after the other, and one that was dissolved", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: Hono;
  let derived: Snapshot;
  let root: string;
  let merged: string[];
  let gone: string;

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const result = await story().derive();
    derived = result;
    await database.fill(result.store);
    app = createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
    });
    const clusters = Object.entries(derived.clusters);
    root = clusters.find(([, it]) => it.size === all.length)?.[0] ?? "";
    gone = clusters.find(([, it]) => it.size === 0)?.[0] ?? "";
    merged = clusters.flatMap(([id, it]) => (it.merged_into === null ? [] : [id]));
  });
  after(() => database?.close());

  async function ask<Data>(query: string, variables: object = {}): Promise<Data> {
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
    expect(errors).to.equal(undefined);
    return data;
  }

  async function get<Answer>(path: string): Promise<Answer> {
    const response = await app.request(path);
    expect(response.status, path).to.equal(200);
    return (await response.json()) as Answer;
  }

  it("are merged and dissolved as the other tests expect", () => {
    const [onto] = merged.filter((id) => derived.clusters[id]?.merged_into === root);
    expect(merged).to.have.length(2);
    expect(merged.filter((id) => derived.clusters[id]?.merged_into === onto)).to.have.length(1);
    expect(gone).to.match(/^clst_/);
  });

  it("lead to the first cluster by any of their ids, with all of its members", async () => {
    for (const id of [root, ...merged]) {
      const { cluster, agents } = await ask<{
        cluster: { id: string; size: number; members: { nodes: { id: string }[] } };
        agents: { nodes: { id: string; clusterId: string; clusterSize: number }[] };
      }>(
        `query ($id: ID!, $where: AgentFilter!) { cluster(id: $id) { id size members(first: 100) { nodes { id } } }
          agents(first: 100, where: $where) { nodes { id clusterId clusterSize } } }`,
        { id, where: { clusterId: id } },
      );
      expect(cluster).to.include({ id: root, size: all.length });
      expect(cluster.members.nodes.map((it) => it.id)).to.have.members(all);
      expect(agents.nodes).to.have.deep.members(
        all.map((member) => ({ id: member, clusterId: root, clusterSize: all.length })),
      );
    }
  });

  it("are one cluster in REST", async () => {
    for (const member of all) {
      const others = all.filter((it) => it !== member);
      expect(await get<ClusterResponse>(`/v1/agents/${member}/cluster`)).to.deep.include({
        cluster_id: root,
        cluster_size: all.length,
        co_members: others,
      });
      expect(await get(`/v1/agents/${member}/reputation`)).to.include({
        cluster_id: root,
        cluster_size: all.length,
      });
    }
    const response = await app.request("/v1/search", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ capability: "code.review", limit: 100 }),
    });
    const { agents } = (await response.json()) as SearchResponse;
    const found = agents.filter(({ agent_id: id }) => all.some((it) => it === id));
    expect(found.map((it) => [it.cluster_id, it.cluster_size])).to.deep.equal(
      all.map(() => [root, all.length]),
    );
  });

  it("are listed as one, without the dissolved cluster", async () => {
    const { clusters, cluster, agents } = await ask<{
      clusters: object;
      cluster: object;
      agents: { nodes: object[] };
    }>(
      `query ($id: ID!, $where: AgentFilter!) { clusters { nodes { id size } }
        cluster(id: $id) { id size members { nodes { id } } } agents(where: $where) { nodes { id } } }`,
      { id: gone, where: { clusterId: gone } },
    );
    expect(clusters).to.deep.equal({ nodes: [{ id: root, size: all.length }] });
    expect(cluster).to.deep.equal({ id: gone, size: 0, members: { nodes: [] } });
    expect(agents.nodes).to.deep.equal([]);
    expect(await get(`/v1/agents/${dissolved[0]}/cluster`)).to.deep.include({
      cluster_id: null,
      cluster_size: 1,
      co_members: [],
    });
  });

  it("are named with the signals that tripped, also with a signal that added agents to an existing cluster", async () => {
    const signalsOf = async (agent: Address | undefined) => {
      type Graph = {
        nodes: { address: string; clusterId: string | null }[];
        edges: { from: string; signals: { dropped: boolean; clusterId: string | null }[] }[];
      };
      const { fundingGraph } = await ask<{ fundingGraph: Graph }>(
        `{ fundingGraph(agent: "${agent}", depth: 1) { nodes { address clusterId }
          edges { from signals { dropped clusterId } } } }`,
      );
      expect(fundingGraph.nodes.find(({ address }) => address === agent)?.clusterId).to.equal(
        derived.agents[agent ?? ""]?.cluster_id,
      );
      return fundingGraph.edges.flatMap(({ signals }) => signals);
    };
    for (const member of all) {
      const signals = await signalsOf(member);
      expect(signals).to.have.length.above(0);
      for (const signal of signals) expect(signal).to.deep.equal({ dropped: false, clusterId: root });
    }
    const dropped = await signalsOf(dissolved[0]);
    expect(dropped).to.have.length.above(0);
    for (const signal of dropped) expect(signal).to.deep.equal({ dropped: true, clusterId: null });
  });
});
