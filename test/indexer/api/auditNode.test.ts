import { expect } from "chai";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { nameOf } from "tallystick-sdk/audits/assignment";
import { createAuditNode } from "tallystick-sdk/audits/createAuditNode";
import { SELLER } from "../../derive/auditScene.ts";
import { wallet } from "../../derive/eventLog.ts";
import { rejection } from "../../sdk/support/tamper.ts";
import { type AuditStory, openAuditStory } from "../support/auditStory.ts";

describe("the SDK's client of a node that assigns audits", () => {
  let story: AuditStory;
  before(async () => {
    story = await openAuditStory();
  });

  const blocks: { asked: unknown[]; final: bigint; hash: string } = { asked: [], final: 0n, hash: "0x" };
  const client = {
    getBlock: async (asked: { blockTag?: string }) => {
      blocks.asked.push(asked);
      return asked.blockTag === "finalized" ? { number: blocks.final } : { hash: blocks.hash };
    },
  };
  const node = () =>
    createAuditNode({
      baseUrl: "http://node.test",
      client: client as never,
      fetch: async (input, init) => await story.app.request(input, init),
    });
  const askedNow = () => {
    const audits = new Map([...story.store.rows("audit").values()].map((audit) => [audit.id, audit]));
    return [...story.store.rows("auditAssignment").values()].filter((it) => {
      const audit = audits.get(it.hire) as Row<"audit">;
      const isLast = audit.round === it.round && audit.attempt === it.attempt;
      return it.verdict === null && isLast && ["assigned", "assigning"].includes(audit.status);
    });
  };

  it("gives the open assignments of a seller, a hire and an auditor, as the derivation has them", async () => {
    const expected = askedNow();
    expect(expected).to.have.length.above(1);
    const ids = expected.map(({ id }) => id).sort();
    expect((await node().openOfSeller(SELLER)).map(nameOf).sort()).to.deep.equal(ids);
    for (const row of expected) {
      const [found, ...more] = await node().openOfHire(row.hire);
      expect(more).to.deep.equal([]);
      const audit = story.store.rows("audit").get(row.hire) as Row<"audit">;
      const receipt = story.store.rows("receipt").get(audit.receipt ?? "") as Row<"receipt">;
      const { round, attempt, auditor, operator, block, time } = row;
      expect(found).to.deep.include({ hire: row.hire, round, attempt, auditor, operator, block, time });
      expect(found).to.deep.include({
        seller: audit.seller,
        buyer: audit.buyer,
        capability: audit.capability,
        paramsHash: audit.paramsHash,
        resultHash: audit.resultHash,
        amount: String(audit.amount),
        due: time + 86_400,
      });
      // The `hireId` of a generated receipt has a form of its own. It is not the hire's id here.
      expect(receipt.hireId).to.be.a("string");
      expect(found?.tickHash).to.match(/^0x[0-9a-f]{64}$/);
      expect((await node().openOfAuditor(auditor as Address)).map(nameOf)).to.include(row.id);
    }
    expect(await node().openOfAuditor(wallet(9_999))).to.deep.equal([]);
    expect(await node().openOfHire(story.hires.passed)).to.deep.equal([]);
    expect(await node().openOfHire(`0x${"ab".repeat(32)}-1`)).to.deep.equal([]);
  });

  it("reads on after an empty page, because a node looks at a limited number of rows, and stops after a hundred pages", async () => {
    const ids = askedNow()
      .map(({ id }) => id)
      .sort();
    const nodeThat = (isEmpty: (page: number) => boolean) => {
      let asked = 0;
      const late = createAuditNode({
        baseUrl: "http://node.test",
        fetch: async (input, init) => {
          const { variables, ...body } = JSON.parse(String(init?.body));
          const pageInfo = { hasNextPage: true, endCursor: `c${asked}` };
          if (isEmpty(asked++))
            return Response.json({
              data: { audits: { nodes: [], pageInfo }, auditAssignments: { nodes: [], pageInfo } },
            });
          const question = JSON.stringify({ ...body, variables: { ...variables, after: null } });
          return await story.app.request(input, { ...init, body: question });
        },
      });
      return { late, asked: () => asked };
    };
    const { late } = nodeThat((page) => page % 4 < 3);
    expect((await late.openOfSeller(SELLER)).map(nameOf).sort()).to.deep.equal(ids);
    const bad = nodeThat(() => true);
    expect(await bad.late.openOfAuditor(SELLER)).to.deep.equal([]);
    expect(bad.asked()).to.equal(100);
  });

  it("finds the origin of an agent's endpoint, and nothing for an address that is not an agent", async () => {
    const [origin] = await node().originsOf(SELLER, "text.translate");
    expect(URL.canParse(origin ?? "")).to.equal(true);
    expect(await node().originsOf(wallet(9_998), null)).to.deep.equal([]);
  });

  it("uses the chain's finality, and checks that the block still has the hash that drew the auditor", async () => {
    const [assignment] = await node().openOfSeller(SELLER);
    if (!assignment?.tickHash) throw new Error("nothing is assigned");
    blocks.hash = assignment.tickHash;
    blocks.final = BigInt(assignment.block) - 1n;
    expect(await node().isFinal(assignment)).to.equal(false);
    blocks.final++;
    expect(await node().isFinal(assignment)).to.equal(true);
    blocks.hash = `0x${"00".repeat(32)}`;
    expect(await node().isFinal(assignment)).to.equal(false);
    expect(await node().isFinal({ ...assignment, tickHash: null })).to.equal(false);
    const blind = createAuditNode({ baseUrl: "http://node.test" });
    expect((await rejection(blind.isFinal(assignment))).code).to.equal("chain_unreachable");
  });
});
