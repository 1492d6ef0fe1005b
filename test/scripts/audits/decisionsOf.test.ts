import { expect } from "chai";
import { type Decision, decisionsOf } from "../../../scripts/audits/decisionsOf.ts";

const OPERATOR = "0x00000000000000000000000000000000000000aa";
const OTHER = "0x00000000000000000000000000000000000000bb";

const by = (operator: string, at: number): Decision => ({
  ...{ hash: String(at), operator, auditedHire: String(at), decision: "ROLLBACK" },
  ...{ reasons: [], block: at, time: at },
});

/** A node with these decisions. `endless`: it always names one more page. */
function nodeWith(all: readonly Decision[], endless = false) {
  let asked = 0;
  return {
    asked: () => asked,
    auditActuations: async ({ first, after }: { first?: number | null; after?: string | null } = {}) => {
      asked++;
      const from = Number(after ?? 0);
      const end = from + (first ?? 20);
      const pageInfo = { hasNextPage: endless || end < all.length, endCursor: String(end) };
      return { auditActuations: { nodes: all.slice(from, end), pageInfo } };
    },
  };
}

describe("the decisions of an operator", () => {
  it("are found behind any number of decisions by others", async () => {
    const others = Array.from({ length: 250 }, (_, at) => by(OTHER, at));
    const node = nodeWith([...others, by(OPERATOR, 250), by(OTHER, 251), by(OPERATOR, 252)]);
    const found = await decisionsOf(node, { operator: OPERATOR.toUpperCase(), first: 20 });
    expect(found.decisions.map(({ hash }) => hash)).to.deep.equal(["250", "252"]);
    expect(found.isUnfinished).to.equal(false);
    expect((await decisionsOf(node, { operator: OPERATOR, first: 1 })).decisions).to.have.length(1);
    expect((await decisionsOf(node, { operator: undefined, first: 20 })).decisions).to.have.length(20);
  });

  it("are called unfinished if the node always names one more page", async () => {
    const node = nodeWith([], true);
    const found = await decisionsOf(node, { operator: OPERATOR, first: 20 });
    expect(found).to.deep.equal({ decisions: [], isUnfinished: true });
    expect(node.asked()).to.equal(100);
  });
});
