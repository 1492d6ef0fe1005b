import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { buildSchema, parse, validate } from "graphql";
import type { Address } from "tallystick-protocol/address";
import { ServiceError } from "tallystick-sdk/requestService";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { createGraphqlNode, operatorQueries } from "../../services/auditing/graphqlNode.ts";
import type { OperatorNode } from "../../services/auditing/operatorNode.ts";
import { AUDITED, POOL, SELLER } from "../derive/auditScene.ts";
import { type AuditStory, openAuditStory } from "../indexer/support/auditStory.ts";

const schema = buildSchema(readFileSync(path.join(repositoryRoot, "indexer/schema.graphql"), "utf8"));
describe("an operator's queries", () => {
  it("fit the node's schema", () => {
    for (const [name, query] of Object.entries(operatorQueries))
      expect(validate(schema, parse(query)).map(String), name).to.deep.equal([]);
  });

  describe("to a node that gives impossible answers", () => {
    const asking = async (answer: unknown, ask: (node: OperatorNode) => Promise<unknown>) => {
      let asked = 0;
      const node = createGraphqlNode({
        baseUrl: "http://node.test",
        operator: AUDITED,
        fetch: async (_, init) => {
          asked++;
          return typeof answer === "function" ? answer(asked, String(init?.body)) : Response.json(answer);
        },
      });
      const result = await ask(node).catch((error: unknown) => error);
      return { result, asked };
    };
    const page = (nodes: unknown[], more: object) => ({ data: { page: { nodes, pageInfo: more } } });

    it("stop after 200 empty pages if every page names a next page", async () => {
      const answer = (n: number) => Response.json(page([], { hasNextPage: true, endCursor: `c${n}` }));
      const { result, asked } = await asking(answer, (node) => node.accounts());
      expect([result, asked]).to.deep.equal([[], 200]);
    });

    it("go on after an empty page, because the node may have looked only at rows that did not fit", async () => {
      const row = { address: POOL, accruedUsdc: "1", paidUsdc: "0" };
      const answer = (n: number) =>
        Response.json(page(n < 4 ? [] : [row], { hasNextPage: n < 4, endCursor: `c${n}` }));
      const { result } = await asking(answer, (node) => node.accounts());
      expect(result).to.deep.equal([{ auditor: POOL, accrued: 1_000_000n, paid: 0n }]);
    });

    it("stop an endless list at 5,000 rows", async () => {
      const row = { address: POOL, accruedUsdc: "0", paidUsdc: "0" };
      const full = Array.from({ length: 100 }, () => row);
      const answer = (n: number) => Response.json(page(full, { hasNextPage: true, endCursor: `c${n}` }));
      const { result, asked } = await asking(answer, (node) => node.accounts());
      expect([(result as unknown[]).length, asked]).to.deep.equal([5_000, 50]);
    });

    it("ask again for an escrow that the node does not know yet, because it indexes anew", async () => {
      const id = `0x${"ab".repeat(32)}`;
      const held = {
        ...{ id, hireId: id, status: "HELD", deadline: 1, feeRecipient: null, arbiter: null },
        ...{ contract: POOL, buyerAddress: AUDITED, sellerAddress: SELLER, payee: SELLER },
        ...{ amountUsdc: "1", feeUsdc: "0" },
      };
      const known = [null, held, { ...held, status: "REFUNDED" }];
      let escrows = 0;
      const answer = (_: number, body: string) =>
        Response.json(
          body.includes(id)
            ? { data: { escrow: known[escrows++] } }
            : page([{ auditedHire: id }], { hasNextPage: false }),
        );
      const rounds = async (node: OperatorNode) => {
        const found: number[] = [];
        for (let n = 0; n < 4; n++) found.push((await node.rolledBackEscrows()).length);
        return found;
      };
      const { result } = await asking(answer, rounds);
      expect(result).to.deep.equal([0, 1, 0, 0]);
      expect(escrows).to.equal(3);
    });

    it("stop reading an endless answer", async () => {
      let given = 0;
      const endless = () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              given += 1_048_576;
              controller.enqueue(new Uint8Array(1_048_576).fill(32));
            },
          }),
        );
      const { result } = await asking(endless, (node) => node.status());
      expect(result).to.be.instanceOf(ServiceError);
      expect(given).to.be.below(40 * 1_048_576);
    });

    it("accept no invalid amount, and no answer of another shape", async () => {
      const amounts = ["1e9", "-1", "0.0000001", "NaN", null];
      for (const accruedUsdc of amounts) {
        const list = page([{ address: POOL, accruedUsdc, paidUsdc: "0" }], { hasNextPage: false });
        const { result } = await asking(list, (node) => node.accounts());
        expect(result, String(accruedUsdc)).to.be.instanceOf(Error);
      }
      for (const shape of [{}, { data: null }, { data: {} }, { data: { page: null } }, [], "x"]) {
        const { result } = await asking(shape, (node) => node.accounts());
        expect(result, JSON.stringify(shape)).to.be.instanceOf(Error);
      }
    });
  });

  describe("to a node with audits", () => {
    let story: AuditStory;
    before(async () => {
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

    it("read the node's position and its rules", async () => {
      const { time, isBlocked } = await node().status();
      expect(isBlocked).to.equal(false);
      expect(time).to.be.above(1_700_000_000);
      expect(await node().rules()).to.deep.include({
        pool: POOL,
        fees: [{ from: 0n, fee: 5_000n }],
        auditArbiters: [],
      });
      expect((await node(SELLER).rules()).pool).to.equal(null);
    });

    it("read every assignment that waits, with the endpoint of its auditor", async () => {
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

    it("read the account of every auditor to which an audit was ever assigned, and no other offer", async () => {
      const accounts = await node().accounts();
      const offers = rows("auditor").filter(({ assigned }) => assigned > 0);
      expect(offers).to.have.length.below(rows("auditor").length);
      expect(accounts).to.have.deep.members(
        offers.map(({ agent, accrued, paid }) => ({ auditor: agent, accrued, paid })),
      );
      expect(accounts.some(({ accrued }) => accrued > 0n)).to.equal(true);
    });

    it("read the hires that wait for a decision, and only escrows of hires that were rolled back", async () => {
      const { challenged, undisclosed } = story.hires;
      const found = await node().challenged();
      expect(found.map(({ hire }) => hire)).to.have.members([challenged, undisclosed]);
      expect(found.every(({ seller }) => seller === SELLER)).to.equal(true);
      expect(await node().rolledBackEscrows()).to.deep.equal([]);
    });

    it("read when an entry was anchored", async () => {
      const [record] = story.log.events.filter((it) => it.kind === "record");
      if (record?.kind !== "record") throw new Error("the story has no record");
      const { ledger, seq, time } = record;
      expect(await node().anchoredAt({ ledger, index: seq })).to.equal(time);
      expect(await node().anchoredAt({ ledger, index: 999_999 })).to.equal(undefined);
    });
  });
});
