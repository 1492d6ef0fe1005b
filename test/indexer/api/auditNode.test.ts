import { expect } from "chai";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { type AuditNode, nameOf } from "tallystick-sdk/audits/assignment";
import { createAuditNode } from "tallystick-sdk/audits/createAuditNode";
import type { ServiceError } from "tallystick-sdk/requestService";
import { SELLER } from "../../derive/auditScene.ts";
import { wallet } from "../../derive/eventLog.ts";
import { rejection } from "../../sdk/support/tamper.ts";
import { type AuditStory, openAuditStory } from "../support/auditStory.ts";

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a node's answer, which a test changes
type Json = any;

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

  describe("to a node whose answer is wrong", () => {
    /** Asks a node that changes its answer, and returns the error. */
    const failureOf = async (
      change: (data: Json) => void,
      ask: (node: AuditNode) => Promise<unknown>,
    ): Promise<ServiceError> => {
      const lying = createAuditNode({
        baseUrl: "http://node.test",
        fetch: async (input, init) => {
          const answer: Json = await (await story.app.request(input, init)).json();
          change(answer.data ?? answer);
          return Response.json(answer);
        },
      });
      return (await rejection(ask(lying))) as unknown as ServiceError;
    };
    const ofSeller = (node: AuditNode) => node.openOfSeller(SELLER);

    it("gives a ServiceError that names the place, and no assignment", async () => {
      const [assigned] = askedNow();
      const { hire, auditor } = assigned as Row<"auditAssignment">;
      const ofHire = (node: AuditNode) => node.openOfHire(hire);
      const ofAuditor = (node: AuditNode) => node.openOfAuditor(auditor as Address);
      const audits = "audits.nodes.0";
      const first = (data: Json) => data.audits.nodes[0];
      const cases: [
        change: (data: Json) => void,
        ask: (node: AuditNode) => Promise<unknown>,
        place: string,
      ][] = [
        [(data) => Object.assign(first(data), { amountUsdc: "-1" }), ofSeller, `${audits}.amountUsdc`],
        [(data) => Object.assign(first(data), { buyerAddress: null }), ofSeller, `${audits}.buyerAddress`],
        [(data) => Object.assign(first(data), { auditedHire: "0x1" }), ofSeller, `${audits}.auditedHire`],
        [(data) => Object.assign(first(data), { paramsHash: "0xAB" }), ofSeller, `${audits}.paramsHash`],
        [(data) => Object.assign(first(data), { rounds: null }), ofSeller, `${audits}.rounds`],
        [
          (data) => Object.assign(first(data).rounds[0], { attempts: {} }),
          ofSeller,
          `${audits}.rounds.0.attempts`,
        ],
        [(data) => data.audits.nodes.push(...Array(21).fill(first(data))), ofSeller, "audits.nodes"],
        [(data) => Object.assign(data.audits, { pageInfo: null }), ofSeller, "audits.pageInfo"],
        [(data) => Object.assign(data, { audits: null }), ofSeller, "audits"],
        [
          (data) => Object.assign(data.audit, { sellerAddress: SELLER.toUpperCase() }),
          ofHire,
          "audit.sellerAddress",
        ],
        [(data) => Object.assign(data.audit, { round: 100 }), ofHire, "audit.round"],
        [
          (data) => Object.assign(data.audit.rounds.at(-1).attempts.at(-1), { assignedAt: 2 ** 60 }),
          (node) => node.openOfHire(hire),
          "assignedAt",
        ],
        [
          (data) => Object.assign(data.auditAssignments.nodes[0], { auditorAddress: "0x" }),
          ofAuditor,
          "auditAssignments.nodes.0.auditorAddress",
        ],
        [
          (data) => Object.assign(data.auditAssignments.nodes[0].audit, { status: 7 }),
          ofAuditor,
          "auditAssignments.nodes.0.audit.status",
        ],
        [
          (data) => Object.assign(data.listings[0], { endpoint: 7 }),
          (node) => node.originsOf(SELLER, null),
          "listings.0.endpoint",
        ],
      ];
      for (const [change, ask, place] of cases) {
        const failure = await failureOf(change, ask);
        expect(failure, place).to.include({ name: "ServiceError", code: "unreadable_answer" });
        expect(failure.message).to.contain("Wrong part: ").and.to.contain(`${place}.`);
      }
    });

    it("ends at once when its caller stops, although the node or the chain does not answer", async () => {
      const [assignment] = await node().openOfSeller(SELLER);
      if (!assignment) throw new Error("nothing is assigned");
      const asks: ((node: AuditNode, signal: AbortSignal) => Promise<unknown>)[] = [
        (silent, signal) => silent.openOfHire(assignment.hire, signal),
        (silent, signal) => silent.openOfAuditor(assignment.auditor, signal),
        (silent, signal) => silent.openOfSeller(SELLER, signal),
        (silent, signal) => silent.originsOf(SELLER, null, signal),
        (silent, signal) => silent.isFinal(assignment, signal),
      ];
      for (const ask of asks) {
        const stop = new AbortController();
        const hang = async () => {
          queueMicrotask(() => stop.abort(new Error("stopped")));
          return new Promise<never>(() => {});
        };
        const silent = createAuditNode({
          ...{ baseUrl: "http://node.test", client: { getBlock: hang }, fetch: hang },
        });
        expect((await rejection(ask(silent, stop.signal))).message, String(ask)).to.equal("stopped");
      }
    });
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
