import { expect } from "chai";
import { eq, inArray } from "drizzle-orm";
import { formatLeg } from "tallystick-derive/funding/legs";
import { fieldNames, publishedFieldOf } from "tallystick-derive/publishedFields";
import * as schema from "../../../indexer/ponder.schema.ts";
import { wallet } from "../../derive/eventLog.ts";
import { type ApiStory, cast, openApiStory } from "../support/apiStory.ts";

type Nodes<T> = { nodes: T[] };
const { busy, modest, free, ring, funder, hub, buyers } = cast;

describe("GraphQL: evidence of a market", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  describe("evidence", () => {
    it("for a direct hire has the log of its payment, the receipt, the ratings, and its fixed weight", async () => {
      const { hires } = await story.ask<{ hires: Nodes<Record<string, never>> }>(
        `query ($a: Address!) { hires(first: 1, where: {buyer: $a, seller: "${ring[0]}"}) { nodes {
          id tx weight clusterSize evidence escrow { id } payment { tx log amountUsdc authorized from to }
          receipt { hash status allPassed hire { id } entry { ledger seq record { type signer valid } } } } } }`,
        { a: ring[1] },
      );
      const [hire] = hires.nodes as unknown as [
        { id: string; tx: string; payment: object; receipt: { entry: { seq: number } } },
      ];
      expect(hire).to.deep.include({ weight: 0.2, clusterSize: 5, escrow: null, evidence: "SELLER" });
      expect(hire.payment).to.deep.include({
        tx: hire.tx,
        amountUsdc: "0.50",
        authorized: true,
        from: ring[1],
      });
      expect(hire.id).to.match(new RegExp(`^${hire.tx}-`));
      expect(hire.receipt).to.deep.include({ status: "COUNTED", allPassed: true, hire: { id: hire.id } });
      expect(hire.receipt.entry).to.deep.include({
        record: { type: "receipt", signer: ring[0], valid: true },
      });
    });

    it("for one of many equal payments in a transaction needs no more statements than for a single payment", async () => {
      const { id } = await story
        .ask<{ hires: Nodes<{ id: string }> }>(
          `{ hires(first: 1, where: {seller: "${busy}", evidence: SELLER}) { nodes { id } } }`,
        )
        .then(({ hires }) => hires.nodes[0] as { id: string });
      const hire = story.derived.store.rows("hire").get(id);
      const [payment] = [...story.derived.store.rows("payment").values()].filter(
        (it) => id === `${hire?.tx}-${it.log}` && it.id.startsWith(`${hire?.tx}/`),
      );
      const key = payment?.id.slice(0, -2);
      const { payment: table } = schema;
      const log = payment?.log ?? 0;
      const alike = Array.from({ length: 9 }, (_, n) => ({
        ...payment,
        id: `${key}/${n + 1}`,
        log: n === 8 ? log : n + 100,
      }));
      await story.database.database
        .update(table)
        .set({ log: 99 })
        .where(eq(table.id, `${key}/0`));
      await story.database.database.insert(table).values(alike as never);
      try {
        story.database.statements = 0;
        const answer = await story.ask<{ hire: { payment: { log: number } } }>(
          "query ($id: ID!) { hire(id: $id) { payment { log } } }",
          { id },
        );
        expect(answer.hire.payment.log).to.equal(log);
        // One of them reads the tick of the answer.
        expect(story.database.statements).to.equal(5);
      } finally {
        await story.database.database.delete(table).where(
          inArray(
            table.id,
            alike.map((it) => it.id),
          ),
        );
        await story.database.database
          .update(table)
          .set({ log })
          .where(eq(table.id, `${key}/0`));
      }
    });

    it("for an escrow hire has the escrow, and an id of its own", async () => {
      const { escrows } = await story.ask<{ escrows: Nodes<{ id: string; hire: { id: string } }> }>(
        "{ escrows(where: {status: RELEASED}) { nodes { id hire { id } } } }",
      );
      const [escrow] = escrows.nodes;
      expect(escrow?.hire.id).to.equal(`${escrow?.id}-hire`);
      for (const id of [escrow?.id, escrow?.hire.id]) {
        const { hire } = await story.ask<{ hire: object }>(
          "query ($id: ID!) { hire(id: $id) { evidence payment { tx } escrow { id status } } }",
          { id },
        );
        expect(hire).to.deep.equal({
          evidence: "ESCROW",
          payment: null,
          escrow: { id: escrow?.id, status: "RELEASED" },
        });
      }
    });

    it("for receipts that are not hires covers free hires and missing payments", async () => {
      const statuses = async (agent: string) => {
        const { agent: found } = await story.ask<{ agent: { receipts: Nodes<{ status: string }> } | null }>(
          "query ($a: Address!) { agent(address: $a) { receipts(first: 1) { nodes { status } } } }",
          { a: agent },
        );
        return found?.receipts.nodes.map((it) => it.status);
      };
      expect(await statuses(busy)).to.deep.equal(["PENDING"]);
      expect(await statuses(free)).to.equal(undefined);
      const [receipt] = [...story.derived.store.rows("receipt").values()].filter(
        (it) => it.status === "free",
      );
      const answer = await story.ask(
        "query ($h: String!) { receipt(hash: $h) { status hire { id } amountUsdc } }",
        {
          h: receipt?.id,
        },
      );
      expect(answer).to.deep.equal({ receipt: { status: "FREE", hire: null, amountUsdc: "0.00" } });
    });

    it("for an agent's new tier has the reason", async () => {
      const { tierChanges } = await story.ask<{ tierChanges: Nodes<Record<string, unknown>> }>(
        "query ($a: Address) { tierChanges(agent: $a) { nodes { from to reason agent { trustTier } } } }",
        { a: busy },
      );
      const reason = "10 successes at 9/10 over 3 capabilities";
      expect(tierChanges.nodes).to.deep.equal([{ from: 0, to: 2, reason, agent: { trustTier: 2 } }]);
    });
  });

  describe("explain", () => {
    it("gives every field of the reputation a value, a rule, a source and a cadence", async () => {
      const fields = fieldNames;
      const selection =
        "value formula formulaVersion paramsVersion source cadence asOfBlock asOfTime windowFrom";
      for (let at = 0; at < fields.length; at += 25) {
        const asked = fields.slice(at, at + 25);
        const parts = asked.map((name) => `${name}: explain(field: ${name.toUpperCase()}) { ${selection} }`);
        const { agent } = await story.ask<{ agent: Record<string, Record<string, unknown>> }>(
          `{ agent(address: "${busy}") { ${parts.join(" ")} } }`,
        );
        for (const name of asked) {
          const reputation = story.derived.agents[busy] as unknown as Record<string, unknown>;
          expect(agent[name]?.value, name).to.deep.equal(reputation[name]);
          expect(agent[name]).to.deep.include({
            formulaVersion: 13,
            paramsVersion: 1,
            source: publishedFieldOf(name).source,
            cadence: publishedFieldOf(name).cadence,
          });
          expect(agent[name]?.formula).to.be.a("string").with.length.above(10);
        }
      }
    });

    it("links the hires that add up to the numerator and denominator", async () => {
      type Explained = {
        numerator: string;
        denominator: string;
        hires: { totalCount: number; nodes: { outcome: string; weight: number; refunded: boolean }[] };
      };
      const explain = async (field: string) => {
        const { agent } = await story.ask<{ agent: { explain: Explained } }>(
          `{ agent(address: "${busy}") { explain(field: ${field}) { numerator denominator
            hires(first: 100) { totalCount nodes { outcome weight refunded } } } } }`,
        );
        return agent.explain;
      };
      const rate = await explain("SUCCESS_RATE");
      const sum = (hires: { weight: number }[]) => hires.reduce((total, { weight }) => total + weight, 0);
      expect(sum(rate.hires.nodes.filter((it) => it.outcome === "SUCCESS"))).to.equal(Number(rate.numerator));
      expect(sum(rate.hires.nodes)).to.equal(Number(rate.denominator));
      expect(rate.hires.totalCount).to.equal(42);
      const refunds = await explain("REFUND_RATE");
      expect(sum(refunds.hires.nodes.filter((it) => it.refunded))).to.equal(Number(refunds.numerator));
      expect(sum(refunds.hires.nodes)).to.equal(Number(refunds.denominator));
    });
  });

  describe("fundingGraph", () => {
    it("says for every transfer why it counts and which signals it tripped", async () => {
      const { fundingGraph } = await story.ask<{
        fundingGraph: {
          nodes: { address: string; kind: string | null; isAgent: boolean }[];
          edges: {
            from: string;
            to: string;
            amountUsdc: string;
            reason: string;
            signals: { members: string[] }[];
          }[];
        };
      }>(`{ fundingGraph(agent: "${ring[0]}", depth: 2) { nodes { address kind isAgent }
        edges { from to amountUsdc reason signals { signal funder members dropped clusterId } } } }`);
      const edge = fundingGraph.edges.find(({ from }) => from === funder);
      expect(edge).to.deep.include({ to: ring[0], amountUsdc: "5.00", reason: "FUNDING" });
      expect(edge?.signals).to.have.length.above(0);
      for (const signal of edge?.signals ?? []) expect(signal.members).to.include(ring[0]);
      expect(fundingGraph.edges.some(({ from }) => from === hub)).to.equal(false);
      expect(fundingGraph.edges.find(({ to }) => to === funder)).to.include({
        amountUsdc: "50.00",
        reason: "FUNDING",
      });
      expect(fundingGraph.nodes.map(({ address }) => address)).to.include.members([ring[0], funder]);
    });

    it("marks payments for hires, and does not show presumed payments", async () => {
      const { wallet: table } = schema;
      const { database } = story.database;
      const known = story.derived.store.rows("wallet").get(modest);
      const leg = { from: buyers[0] ?? busy, block: 5, time: 100, log: 1 };
      const fundings = [formatLeg(leg, "presumed"), formatLeg({ ...leg, log: 2 }, "paid")].join("\n");
      await database.update(table).set({ fundings }).where(eq(table.id, modest));
      try {
        const { fundingGraph } = await story.ask<{ fundingGraph: { edges: object[] } }>(
          `{ fundingGraph(agent: "${modest}", depth: 1) { edges { from to log reason } } }`,
        );
        expect(fundingGraph.edges).to.deep.equal([
          { from: buyers[0], to: modest, log: 2, reason: "PAID_FOR_HIRE" },
        ]);
      } finally {
        await database.update(table).set({ fundings: known?.fundings }).where(eq(table.id, modest));
      }
    });

    it("shows earlier inflows of a wallet first, in a log of only the transfers that matter", async () => {
      const { inflow: table } = schema;
      const { database } = story.database;
      const leg = { from: wallet(1_234), block: 5, time: 100, log: 1 };
      const empty = { received: 0n, incoming: 0, block: 0, log: 0, watchedBlock: null, watchedLog: null };
      await database.insert(table).values({ ...empty, id: funder, fundings: formatLeg(leg, "plain") });
      try {
        const { fundingGraph } = await story.ask<{ fundingGraph: { edges: { id: string; from: string }[] } }>(
          `{ fundingGraph(agent: "${ring[0]}", depth: 2) { edges { id from to reason } } }`,
        );
        const known = fundingGraph.edges.filter(({ id }) => id.startsWith(funder));
        expect(known).to.deep.equal([
          { id: `${funder}/0`, from: wallet(1_234), to: funder, reason: "FUNDING" },
          { id: `${funder}/1`, from: wallet(97), to: funder, reason: "FUNDING" },
        ]);
      } finally {
        await database.delete(table).where(eq(table.id, funder));
      }
    });

    it("reads every level with two statements, and all agents with one", async () => {
      story.database.statements = 0;
      await story.ask(
        `{ fundingGraph(agent: "${ring[0]}", depth: 2) { nodes { address isAgent } edges { from to reason } } }`,
      );
      // One of them reads the tick of the answer.
      expect(story.database.statements).to.equal(7);
    });

    it("refuses a depth that no signal reaches", async () => {
      expect(
        await story.codeOf(`{ fundingGraph(agent: "${busy}", depth: 4) { nodes { address } } }`),
      ).to.equal("INVALID_ARGUMENT");
      expect(
        await story.codeOf(`{ fundingGraph(agent: "${busy}", depth: 0) { nodes { address } } }`),
      ).to.equal("INVALID_ARGUMENT");
    });
  });
});
