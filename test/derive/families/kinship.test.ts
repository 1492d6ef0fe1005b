import { expect } from "chai";
import { areSameFamily, familiesOf, isBehindBuyer, knownFamily } from "tallystick-derive/families/kinship";
import { contextAt, FORMS, type Form } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { declare, fund, spend } from "./tellMoney.ts";

const [A, B, C, F, G] = [wallet(1), wallet(2), wallet(3), wallet(50), wallet(51)];

/** F funds A, which is registered at `[10, 3]`, and B, which spends at `[10, 5]` and gets more money later. */
function scene(block: number, log: number | null, form: Form) {
  const context = contextAt(block, log, { form });
  spend(context, F, [1, 1]);
  fund(context, A, F, 5, [1, 1]);
  fund(context, B, F, 5, [1, 2]);
  declare(context, A, [10, 3]);
  spend(context, B, [10, 5]);
  fund(context, A, G, 9, [10, 6]);
  fund(context, B, G, 9, [10, 6]);
  return context;
}

for (const form of FORMS)
  describe(`kinship, in a log of ${form} transfers`, () => {
    it("is known from the event on at which a wallet was registered or spent, and at a tick of that block", () => {
      const known = (who: string, block: number, log: number | null) =>
        knownFamily(scene(block, log, form), who);
      for (const [who, log] of [
        [A, 3],
        [B, 5],
      ] as const) {
        expect(known(who, 10, log - 1)).to.equal(null);
        expect(known(who, 9, null)).to.equal(null);
        expect(known(who, 10, log)).to.equal(F);
        expect(known(who, 10, null)).to.equal(F);
        expect(known(who, 11, 0)).to.equal(F);
      }
      expect(known(C, 99, 0)).to.equal(null);
      // A family that is stored stays known.
      const context = scene(11, 0, form);
      expect(knownFamily(context, A)).to.equal(F);
      expect(knownFamily({ ...context, at: { ...context.at, block: 1 } }, A)).to.equal(F);
    });

    it("connects two wallets whose families are known and equal", () => {
      const same = (a: string, b: string) => areSameFamily(scene(20, 0, form), a, b);
      expect(same(A, B)).to.equal(true);
      expect(same(B, A)).to.equal(true);
      expect(same(A, F)).to.equal(true);
      expect(same(A, C)).to.equal(false);
      expect(same(C, wallet(4))).to.equal(false);
      const other = scene(20, 0, form);
      declare(other, C, [12, 0]);
      expect(areSameFamily(other, A, C)).to.equal(false);
      expect(familiesOf(other, [A, C, wallet(4), B])).to.deep.equal({ [A]: F, [C]: C, [B]: F });
    });

    it("connects a buyer with a wallet of its family, and with a wallet through which its money came", () => {
      const behind = (who: string, log: number | null = 7) => {
        const context = scene(10, log, form);
        declare(context, G, [2, 0]);
        declare(context, C, [2, 1]);
        fund(context, C, B, 4, [10, 6]);
        return isBehindBuyer(context, B, who);
      };
      expect(behind(A)).to.equal(true);
      expect(behind(F)).to.equal(true);
      expect(behind(G)).to.equal(false);
      expect(behind(C)).to.equal(false);
      expect(behind(wallet(4))).to.equal(false);
      // At a tick, everything of its block is over.
      expect(behind(A, null)).to.equal(true);
      expect(behind(G, null)).to.equal(false);
      // A was registered without money, and later passed on what it got. As a seller it has its own family.
      const context = contextAt(20, 0, { form });
      declare(context, A, [1, 0]);
      fund(context, A, G, 9, [2, 0]);
      spend(context, A, [3, 0]);
      fund(context, B, A, 9, [3, 0]);
      spend(context, B, [4, 0]);
      expect(knownFamily(context, A)).to.equal(A);
      expect(isBehindBuyer(context, B, A)).to.equal(true);
      expect(isBehindBuyer(context, B, C)).to.equal(false);
    });

    it("is stored with the place at which the buyer spent first", () => {
      for (const log of [7, null]) {
        const context = scene(10, log, form);
        isBehindBuyer(context, B, F);
        expect(context.store.get("familyMember", B)).to.include({ parent: F, actedBlock: 10, actedLog: 5 });
        // If that place is not known, it is this one; at a tick, the end of the block.
        isBehindBuyer(context, C, F);
        const { block, time } = context.at;
        expect(context.store.get("familyMember", C)).to.include({
          ...{ actedBlock: block, actedLog: log ?? Number.MAX_SAFE_INTEGER, actedTime: time },
        });
      }
    });
  });
