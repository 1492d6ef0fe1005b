import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { begunWith, familyOf, hasParent } from "tallystick-derive/families/familyOf";
import type { How } from "tallystick-derive/families/origin";
import type { Read } from "tallystick-derive/relevant/reads";
import { countTold } from "tallystick-derive/relevant/senders";
import { contextAt, FORMS } from "../contextAt.ts";
import { START, wallet } from "../eventLog.ts";
import { fund, spend } from "./tellMoney.ts";

const [B, F, G] = [wallet(2), wallet(50), wallet(51)];
const LATEST = { block: 90, log: 4, time: START + 90 };

const member = (context: ApplyContext, id: string) => context.store.get("familyMember", id);

const founder = (id: string, block: number, log: number) => ({
  ...{ id, family: id, depth: 0, parent: null, how: "none", value: null, block: null, log: null },
  ...{ actedBlock: block, actedLog: log, actedTime: START + block, ofHire: false },
});

/** Wallets 100, 101, … fund one another in this order, and the last one funds the buyer. */
function chain(context: ApplyContext, steps: number): void {
  for (let n = 0; n < steps; n++) {
    fund(context, n + 1 === steps ? B : wallet(101 + n), wallet(100 + n), 9, [10 + n, 1]);
    spend(context, wallet(100 + n), [10 + n, 1]);
  }
  spend(context, B, [80, 0]);
}

for (const form of FORMS)
  describe(`the family of a wallet, in a log of ${form} transfers`, () => {
    it("is its own if no money reached it, also if no transfer of it is known", () => {
      const context = contextAt(90, 4, { form });
      spend(context, B, [20, 3]);
      expect(familyOf(context, B, LATEST)).to.deep.equal(founder(B, 20, 3));
      expect(familyOf(context, F, LATEST)).to.deep.equal(founder(F, 90, 4));
    });

    it("is that of the sender of its first money, and both rows are stored", () => {
      const context = contextAt(90, 4, { form });
      spend(context, F, [10, 1]);
      fund(context, B, F, 500, [10, 1]);
      spend(context, B, [20, 3]);
      const row = {
        ...{ ...founder(B, 20, 3), family: F, depth: 1, parent: F, how: "plain" },
        ...{ value: 500n, block: 10, log: 1 },
      };
      expect(familyOf(context, B, LATEST)).to.deep.equal(row);
      expect(member(context, B)).to.deep.equal(row);
      expect(member(context, F)).to.deep.equal(founder(F, 10, 1));
      // It stays what it was, whatever is told later.
      expect(familyOf(context, B, { block: 91, log: 0, time: START + 91 })).to.equal(member(context, B));
    });

    it("is the sender's by a transfer or by the payout of an escrow, and else its own", () => {
      for (const how of ["plain", "payout", "hub", "busy", "mint"] as const) {
        const context = contextAt(90, 4, { form });
        fund(context, B, F, 500, [10, 1], how);
        spend(context, B, [20, 3]);
        const isOfSender = how === "plain" || how === "payout";
        expect(hasParent(how)).to.equal(isOfSender);
        const family = isOfSender
          ? { family: F, parent: F, depth: 1 }
          : { family: B, parent: null, depth: 0 };
        const inflow = { how, value: 500n, block: 10, log: 1 };
        expect(familyOf(context, B, LATEST), how).to.deep.equal({
          ...founder(B, 20, 3),
          ...family,
          ...inflow,
        });
        expect(member(context, F) === null, how).to.equal(!isOfSender);
      }
      expect(hasParent("none")).to.equal(false);
    });

    it("is followed for sixteen steps, and all wallets of the way are stored", () => {
      const context = contextAt(90, 4, { form });
      chain(context, 16);
      expect(familyOf(context, B, LATEST)).to.include({
        family: wallet(100),
        depth: 16,
        parent: wallet(115),
      });
      for (let n = 0; n < 16; n++)
        expect(member(context, wallet(100 + n))).to.include({ family: wallet(100), depth: n });
      // One step more, from a wallet whose family is known.
      fund(context, G, B, 9, [85, 0]);
      spend(context, G, [86, 0]);
      expect(familyOf(context, G, LATEST)).to.include({ family: "deep", depth: 17, parent: B });
      fund(context, F, G, 9, [87, 0]);
      spend(context, F, [88, 0]);
      expect(familyOf(context, F, LATEST)).to.include({ family: "deep", depth: 17, parent: G });
    });

    it("is unknown if the founder is farther away, and then no other wallet of the way is stored", () => {
      for (const steps of [17, 18, 30]) {
        const context = contextAt(90, 4, { form });
        chain(context, steps);
        const last = wallet(99 + steps);
        expect(familyOf(context, B, LATEST)).to.include({ family: "deep", depth: 17, parent: last });
        expect(member(context, last), String(steps)).to.equal(null);
        expect(member(context, wallet(100)), String(steps)).to.equal(null);
      }
    });
  });

describe("the family of a wallet, in a log of relevant transfers", () => {
  const sentBefore = (context: ApplyContext, log: number, transfers: number) =>
    countTold(context, {
      ...{ kind: "count", wallet: F, side: "out", transfers, block: 10, log, time: START + 10 },
    });
  const begun = (log: number, how: How) => {
    const context = contextAt(90, 4, { form: "relevant", params: { hubTransfers: 3 } });
    sentBefore(context, log, 3);
    fund(context, B, F, 500, [10, 5], how);
    return begunWith(context, B, LATEST).how;
  };

  it("does not reach back over a sender whose `hubTransfers` transfers were before this one", () => {
    expect(begun(4, "plain")).to.equal("busy");
    expect(begun(5, "plain")).to.equal("plain");
    expect(begun(4, "payout")).to.equal("payout");
    expect(begun(4, "hub")).to.equal("hub");
    expect(begunWith(contextAt(90, 4, { form: "relevant" }), B, LATEST)).to.deep.equal({
      ...{ inflow: null, how: "none" },
    });
  });

  it("asks where the wallet first spent, and for its money up to there", () => {
    const reads: Read[] = [];
    const asked = (context: ApplyContext, act = LATEST) => {
      reads.length = 0;
      familyOf(context, B, act);
      return reads.map((it) => [it.kind, "before" in it ? [it.before.block, it.before.log] : null]);
    };
    const ask = (it: Read) => reads.push(it) === 0;
    expect(asked(contextAt(90, 4, { form: "relevant", ask }))).to.deep.equal([["firstSpent", [90, 4]]]);
    const open = familyOf(contextAt(90, 4, { form: "relevant", ask }), B, LATEST);
    expect(open).to.deep.equal(founder(B, 90, 4));
    const known = contextAt(90, 4, { form: "relevant", ask });
    spend(known, B, [20, 3]);
    expect(asked(known)).to.deep.equal([["transfersTo", [20, 3]]]);
  });
});
