import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { buildSchema, parse, validate } from "graphql";
import { AGENT, type AgentAnswer } from "../../portal/agent/agentQuery.ts";
import { AUDITS } from "../../portal/audits/auditsQuery.ts";
import { CLUSTER, type ClusterAnswer } from "../../portal/cluster/clusterQuery.ts";
import { CONTRACTS, ESCROW, type EscrowAnswer } from "../../portal/escrow/escrowQuery.ts";
import { termsOf } from "../../portal/escrow/termsOf.ts";
import { HIRE, type HireAnswer } from "../../portal/hire/hireQuery.ts";
import { momentsOf } from "../../portal/hire/momentsOf.ts";
import {
  ENTRY,
  ENTRY_BY_HASH,
  LEDGER,
  LEDGER_ENTRY,
  LEDGER_ENTRY_BY_HASH,
} from "../../portal/ledger/ledgerQuery.ts";
import { MARKET, type Market } from "../../portal/market/marketQuery.ts";
import { NETWORK } from "../../portal/network/networkQuery.ts";
import { HEADS } from "../../portal/verify/askLedgers.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type ApiStory, cast, openApiStory } from "../indexer/support/apiStory.ts";

const schema = buildSchema(readFileSync(path.join(repositoryRoot, "indexer/schema.graphql"), "utf8"));

describe("the queries of the portal", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  for (const [name, query] of Object.entries({
    MARKET,
    AGENT,
    AUDITS,
    HIRE,
    CLUSTER,
    LEDGER,
    LEDGER_ENTRY,
    LEDGER_ENTRY_BY_HASH,
    ENTRY,
    ENTRY_BY_HASH,
    HEADS,
    NETWORK,
    ESCROW,
    CONTRACTS,
  })) {
    it(`include ${name}, which is valid for the schema`, () => {
      expect(validate(schema, parse(query))).to.deep.equal([]);
    });
  }

  it("are within every limit of the node, and get answers", async () => {
    const market = await story.ask<Market>(MARKET);
    expect(market.agents.nodes).to.have.length.above(3);
    expect(market.capabilities.nodes[0]?.window?.hires).to.be.above(0);
    const { agent } = await story.ask<AgentAnswer>(AGENT, { address: cast.busy });
    expect(agent?.listings.nodes).to.have.length.above(0);
    expect(agent?.f0).to.include({ numerator: "39" });
  });

  it("give the events of a hire in order", async () => {
    const { hires } = await story.ask<{ hires: { nodes: { id: string }[] } }>(
      "{ hires(first: 60) { nodes { id } } }",
    );
    for (const { id } of hires.nodes) {
      const { hire } = await story.ask<HireAnswer>(HIRE, { id });
      const times = momentsOf(hire as NonNullable<HireAnswer["hire"]>).map(({ time }) => time);
      expect(times).to.have.length.above(0);
      expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    }
  });

  it("give an escrow, and the portal checks its terms against its id", async () => {
    const { escrows } = await story.ask<{ escrows: { nodes: { id: string }[] } }>(
      "{ escrows(first: 1) { nodes { id } } }",
    );
    const id = escrows.nodes[0]?.id as `0x${string}`;
    const { escrow, meta } = await story.ask<EscrowAnswer>(ESCROW, { id });
    expect(escrow?.steps).to.have.length.above(0);
    expect(meta.contracts.escrows).to.be.an("array");
    // The story's ids are made up. They are not hashes of any terms.
    expect(escrow && termsOf(escrow, meta.chainId, id)).to.equal(null);
  });

  it("give the evidence that put the agents of a ring into one cluster", async () => {
    const { agent } = await story.ask<AgentAnswer>(AGENT, { address: cast.ring[0] });
    const { cluster } = await story.ask<ClusterAnswer>(CLUSTER, { id: agent?.clusterId });
    expect(cluster?.members.nodes).to.have.length(5);
    expect(cluster?.graph.signals.map(({ funder }) => funder)).to.include(cast.funder);
    expect(cluster?.graph.edges).to.have.length.above(4);
  });

  it("get answers for agents with private metrics and for unknown agents too", async () => {
    const { agent } = await story.ask<AgentAnswer>(AGENT, { address: cast.secret });
    expect(agent).to.include({ privateMetrics: true, series: null });
    expect((await story.ask<AgentAnswer>(AGENT, { address: `0x${"ab".repeat(20)}` })).agent).to.equal(null);
  });
});
