import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { familyOf } from "tallystick-derive/families/familyOf";
import {
  accountOf,
  cameThrough,
  knownMember,
  memberAsSeller,
} from "tallystick-derive/families/memberAsSeller";
import type { How } from "tallystick-derive/families/origin";
import type { Read } from "tallystick-derive/relevant/reads";
import { contextAt, FORMS, type Form } from "../contextAt.ts";
import { START, wallet } from "../eventLog.ts";
import { declare, fund, spend } from "./tellMoney.ts";

const [S, B, F, G] = [wallet(1), wallet(2), wallet(50), wallet(51)];

/** What a seller did, in this order: got money from F or G, was registered, spent. */
type Acts = { [act in "f" | "g" | "declared" | "spent"]?: [block: number, log: number] };

function seller(form: Form, acts: Acts, how: How = "plain"): ApplyContext {
  const context = contextAt(90, 0, { form });
  spend(context, F, [1, 1]);
  const values = { f: 5, g: 9 };
  for (const [act, at] of Object.entries(acts)) {
    if (act === "declared") declare(context, S, at);
    else if (act === "spent") spend(context, S, at);
    else fund(context, S, act === "f" ? F : G, values[act as "f" | "g"], at, how);
  }
  return context;
}

const at = (context: ApplyContext, block: number, log = 0) => memberAsSeller(context, S, { block, log });

for (const form of FORMS)
  describe(`the family of a seller, in a log of ${form} transfers`, () => {
    it("is fixed by its money at its registration, in a row of its own", () => {
      const context = seller(form, { f: [10, 1], declared: [12, 3], g: [13, 0], spent: [14, 0] });
      const row = {
        ...{ id: S, family: F, depth: 1, parent: F, how: "plain", value: 5n, block: 10, log: 1 },
        ...{ actedBlock: 12, actedLog: 3, actedTime: START + 12, ofHire: false },
      };
      expect(at(context, 90)).to.deep.equal(row);
      expect(context.store.get("registeredMember", S)).to.deep.equal(row);
      expect(context.store.get("familyMember", S)).to.equal(null);
      expect(context.store.get("familyMember", F)?.actedBlock).to.equal(1);
      // As a payer it is of the family of its larger money.
      familyOf(context, S, { block: 90, log: 0, time: START + 90 });
      expect(context.store.get("familyMember", S)?.family).to.equal(G);
      expect(knownMember(context, S)).to.deep.equal(row);
      expect(at(context, 90)).to.deep.equal(row);
      expect(at(context, 1)).to.deep.equal(row);
    });

    it("is its own if it had no money then, and says so", () => {
      const context = seller(form, { declared: [12, 3], f: [13, 0] });
      expect(at(context, 90)).to.deep.equal({
        ...{ id: S, family: S, depth: 0, parent: null, how: "none", value: null, block: null, log: null },
        ...{ actedBlock: 12, actedLog: 3, actedTime: START + 12, ofHire: false },
      });
    });

    it("is its own if its money came from nobody known", () => {
      for (const how of ["hub", "busy", "mint"] as const) {
        const context = seller(form, { f: [10, 1], declared: [12, 3] }, how);
        const of = { family: S, depth: 0, parent: null, how, value: 5n, block: 10, log: 1 };
        expect(at(context, 90), how).to.include(of);
      }
      const paid = seller(form, { f: [10, 1], declared: [12, 3] }, "payout");
      expect(at(paid, 90)).to.include({ family: F, depth: 1, parent: F, how: "payout" });
    });

    it("is the same as the payer's if it spent before its registration, or at the same place", () => {
      for (const spent of [
        [11, 0],
        [12, 3],
      ] as [number, number][]) {
        const context = seller(form, { f: [10, 1], spent, g: [12, 1], declared: [12, 3] });
        expect(at(context, 90)).to.include({ id: S, family: form === "all" || spent[0] === 11 ? F : G });
        expect(context.store.get("registeredMember", S)).to.equal(null);
        expect(knownMember(context, S)).to.equal(context.store.get("familyMember", S));
        expect(at(context, 90)).to.equal(context.store.get("familyMember", S));
      }
      const later = seller(form, { f: [10, 1], declared: [12, 3], g: [12, 4], spent: [12, 4] });
      expect(at(later, 90)).to.include({ family: F, actedLog: 3 });
    });

    it("is the same as the payer's also if that was stored before it was asked for as a seller", () => {
      const stored = (acts: Acts) => {
        const context = seller(form, acts);
        familyOf(context, S, { block: 90, log: 0, time: START + 90 });
        return context;
      };
      const before = stored({ f: [10, 1], spent: [11, 0], declared: [12, 3] });
      expect(at(before, 90)).to.equal(before.store.get("familyMember", S));
      const same = stored({ f: [10, 1], spent: [12, 3], declared: [12, 3] });
      expect(at(same, 90)).to.equal(same.store.get("familyMember", S));
      const none = stored({ f: [10, 1], spent: [12, 3] });
      expect(at(none, 90)).to.equal(none.store.get("familyMember", S));
      const after = stored({ f: [10, 1], declared: [12, 3], g: [12, 4], spent: [12, 4] });
      expect(at(after, 90)).to.include({ family: F, actedLog: 3 });
    });

    it("is unknown before it was registered or spent", () => {
      const context = () => seller(form, { f: [10, 1], declared: [12, 3], spent: [14, 2] });
      expect(at(context(), 12, 3)).to.equal(null);
      expect(at(context(), 12, 4)).to.include({ family: F, actedBlock: 12 });
      const spent = () => seller(form, { f: [10, 1], spent: [14, 2] });
      expect(at(spent(), 14, 2)).to.equal(null);
      expect(at(spent(), 14, 3)).to.include({ family: F, actedBlock: 14 });
      expect(at(seller(form, { f: [10, 1] }), 90)).to.equal(null);
      expect(knownMember(context(), S)).to.equal(null);
    });

    it("is followed for sixteen steps", () => {
      const ofSteps = (steps: number) => {
        const context = contextAt(90, 0, { form });
        for (let n = 0; n < steps; n++) {
          fund(context, n + 1 === steps ? S : wallet(101 + n), wallet(100 + n), 9, [10 + n, 1]);
          spend(context, wallet(100 + n), [10 + n, 1]);
        }
        declare(context, S, [80, 0]);
        return at(context, 90);
      };
      expect(ofSteps(16)).to.include({ family: wallet(100), depth: 16, parent: wallet(115) });
      expect(ofSteps(17)).to.include({ family: "deep", depth: 17, parent: wallet(116) });
      expect(ofSteps(18)).to.include({ family: "deep", depth: 17, parent: wallet(117) });
    });

    it("does not count its first money when that came at or after its registration", () => {
      const context = seller(form, { declared: [12, 3], f: [12, 4] });
      expect(at(context, 90)).to.include({ family: S, how: "none" });
      const second = seller(form, { f: [10, 0], declared: [12, 3] });
      declare(second, S, [13, 0]);
      expect(at(second, 90)).to.include({ family: F, actedBlock: 12 });
    });

    it("has money that came through a wallet if that wallet is one of those before it", () => {
      const context = contextAt(90, 0, { form });
      const way = [F, G, S, B];
      for (const [n, to] of way.slice(1).entries()) {
        fund(context, to, way[n] as string, 5, [10 + n, 1]);
        spend(context, way[n] as string, [10 + n, 1]);
      }
      spend(context, B, [20, 0]);
      const buyer = familyOf(context, B, { block: 90, log: 0, time: START + 90 });
      for (const before of [S, G, F]) expect(cameThrough(context, buyer, before)).to.equal(true);
      for (const other of [B, wallet(9)]) expect(cameThrough(context, buyer, other)).to.equal(false);
      expect(cameThrough(context, { ...buyer, family: "deep" }, S)).to.equal(false);
      expect(cameThrough(context, { ...buyer, parent: null }, S)).to.equal(false);
      expect(cameThrough(context, { ...buyer, parent: wallet(9) }, S)).to.equal(false);
    });
  });

describe("the account of a wallet", () => {
  it("is its family, or the wallet if the family is unknown", () => {
    expect(accountOf({ id: S, family: F })).to.equal(F);
    expect(accountOf({ id: S, family: "deep" })).to.equal(S);
  });
});

describe("the family of a seller, while a log of relevant transfers is made", () => {
  it("is not decided before it is read where the wallet first spent", () => {
    const reads: Read[] = [];
    const ask = (it: Read) => reads.push(it) === 0;
    const context = contextAt(90, 0, { form: "relevant", ask });
    expect(memberAsSeller(context, S, { block: 90, log: 0 })).to.equal(null);
    expect(reads).to.deep.equal([{ kind: "firstSpent", wallet: S, before: { block: 90, log: 0 } }]);
    // The payment itself may register its sender, so the place of the registration is asked for too.
    reads.length = 0;
    declare(context, S, [12, 3]);
    memberAsSeller(context, S, { block: 90, log: 0 });
    expect(reads[0]).to.deep.equal({ kind: "firstSpent", wallet: S, before: { block: 12, log: 4 } });
  });
});
