import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { buildSchema, parse, validate } from "graphql";
import type { Address } from "tallystick-protocol/address";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { createGraphqlNode, operatorQueries } from "../../services/auditing/graphqlNode.ts";
import { AUDITED, POOL, SELLER } from "../derive/auditScene.ts";
import { type AuditStory, openAuditStory } from "../indexer/support/auditStory.ts";

const schema = buildSchema(readFileSync(path.join(repositoryRoot, "indexer/schema.graphql"), "utf8"));
describe("what an operator asks a node", () => {
  it("is in the node's schema", () => {
    for (const [name, query] of Object.entries(operatorQueries))
      expect(validate(schema, parse(query)).map(String), name).to.deep.equal([]);
  });

  describe("of a node with audits", () => {
    let story: AuditStory;
    before(async function () {
      this.timeout(60_000);
      story = await openAuditStory();
    });
    const node = (operator: Address = AUDITED) =>
      createGraphqlNode({
        baseUrl: "http://node.test",
        operator,
        fetch: async (input, init) => await story.app.request(input, init),
      });
    const rows = <Table extends "audit" | "auditAssignment" | "auditor">(table: Table) => [
      ...story.store.rows(table).values(),
    ];

    it("is where it stands, and its rules", async () => {
      const { time, isBlocked } = await node().standing();
      expect(isBlocked).to.equal(false);
      expect(time).to.be.above(1_700_000_000);
      expect(await node().rules()).to.deep.include({
        pool: POOL,
        fees: [{ from: 0n, fee: 5_000n }],
        auditArbiters: [],
      });
      expect((await node(SELLER).rules()).pool).to.equal(null);
    });

    it("is every assignment that waits, with the endpoint of its auditor", async () => {
      const open = await node().openAssignments();
      const { assigned, secondRound } = story.hires;
      expect(open.map(({ hire }) => hire)).to.include.members([assigned, secondRound]);
      const asked = rows("auditAssignment");
      for (const it of open) {
        const row = asked.find(
          ({ hire, round, attempt }) => hire === it.hire && round === it.round && attempt === it.attempt,
        );
        expect(row?.verdict).to.equal(null);
        expect([it.auditor, it.time, it.due]).to.deep.equal([
          row?.auditor,
          row?.time,
          (row?.time ?? 0) + 86_400,
        ]);
        const offer = rows("auditor").find(({ agent }) => agent === it.auditor);
        expect([it.endpoint, it.amount, it.capability]).to.deep.equal([
          offer?.endpoint,
          500_000n,
          "text.translate",
        ]);
      }
      expect(await node(SELLER).openAssignments()).to.deep.equal([]);
    });

    it("is every account of an auditor", async () => {
      const accounts = await node().accounts();
      const offers = rows("auditor");
      expect(accounts).to.have.deep.members(
        offers.map(({ agent, accrued, paid }) => ({ auditor: agent, accrued, paid })),
      );
      expect(accounts.some(({ accrued }) => accrued > 0n)).to.equal(true);
    });

    it("is what waits for a decision, and no escrow that nobody rolled back", async () => {
      const { challenged, undisclosed } = story.hires;
      const found = await node().challenged();
      expect(found.map(({ hire }) => hire)).to.have.members([challenged, undisclosed]);
      expect(found.every(({ seller }) => seller === SELLER)).to.equal(true);
      expect(await node().rolledBackEscrows()).to.deep.equal([]);
    });

    it("is when an entry was anchored", async () => {
      const [record] = story.log.events.filter((it) => it.kind === "record");
      if (record?.kind !== "record") throw new Error("the story has no record");
      const { ledger, seq, time } = record;
      expect(await node().anchoredAt({ ledger, index: seq })).to.equal(time);
      expect(await node().anchoredAt({ ledger, index: 999_999 })).to.equal(undefined);
    });
  });
});
