import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import {
  countPurchasesOfFamily,
  familyRow,
  isEstablished,
  looksAgain,
  settleFamilies,
} from "tallystick-derive/families/established";
import { familyOf } from "tallystick-derive/families/familyOf";
import type { Row } from "tallystick-derive/tables";
import { contextAt, scheduled } from "../contextAt.ts";
import { START, wallet } from "../eventLog.ts";
import { fund, spend } from "./tellMoney.ts";

const F = wallet(50);
const MONTH = 2_592_000;

/** A context at a time, after a last tick at another time. */
const at = (
  time: number,
  { since = time, ticks = 0, store = undefined as ApplyContext["store"] | undefined } = {},
) => contextAt(10, null, { time, state: { time: since, ticks }, ...(store && { store: store as never }) });

const told = (context: ApplyContext): string[] => {
  const families: string[] = [];
  settleFamilies(context, (family) => families.push(family));
  return families;
};

describe("the row of a family that buys", () => {
  it("begins when its founder first spent, and is looked at again thirty days later", () => {
    const context = at(START + 500);
    fund(context, wallet(2), F, 5, [1, 1]);
    spend(context, F, [1, 1]);
    spend(context, wallet(2), [2, 0]);
    familyOf(context, wallet(2), { block: 2, log: 0, time: START + 2 });
    const row = { id: F, foundedTime: START + 1, sellers: 0, established: false, touched: null };
    expect(familyRow(context, F)).to.deep.equal(row);
    expect(context.store.get("family", F)).to.deep.equal(row);
    expect(familyRow(context, F)).to.deep.equal(row);
    expect(scheduled(context)).to.deep.equal([`${START + 1 + MONTH} family ${F}`]);
  });

  it("begins now if no row of the founder is stored", () => {
    expect(familyRow(at(START + 500), F).foundedTime).to.equal(START + 500);
  });

  it("is not looked at again for a founder that a tick has found old enough already", () => {
    const due = (since: number) => {
      const context = at(START + MONTH + 500, { since });
      context.store.insert("familyMember", { id: F, actedTime: START } as Row<"familyMember">);
      familyRow(context, F);
      return scheduled(context).length;
    };
    expect(due(START + MONTH - 1)).to.equal(1);
    expect(due(START + MONTH)).to.equal(0);
    expect(due(START + MONTH + 1)).to.equal(0);
  });
});

describe("the purchases of a family", () => {
  it("count each family of sellers once, while at least one hire is in the window", () => {
    const context = at(START + 500);
    const sellers = () => context.store.get("family", F)?.sellers ?? null;
    const count = (of: string, by: 1 | -1) => {
      countPurchasesOfFamily(context, F, of, by);
      return sellers();
    };
    expect(count("a", 1)).to.equal(1);
    expect(count("a", 1)).to.equal(1);
    expect(count("b", 1)).to.equal(2);
    expect(context.store.get("familyPurchases", `${F}/a`)).to.deep.equal({ id: `${F}/a`, hires: 2 });
    expect(count("a", -1)).to.equal(2);
    expect(count("a", -1)).to.equal(1);
    expect(count("b", -1)).to.equal(0);
    expect(count("b", 1)).to.equal(1);
  });

  it("let the next tick look at the family only when the number of families of sellers changed", () => {
    const context = at(START + 500, { ticks: 4 });
    const touched = () => context.store.get("family", F)?.touched;
    countPurchasesOfFamily(context, F, "a", 1);
    const next = at(START + 500, { ticks: 5, store: context.store });
    countPurchasesOfFamily(next, F, "a", 1);
    expect(touched()).to.equal(4);
    countPurchasesOfFamily(next, F, "a", -1);
    expect(touched()).to.equal(4);
    countPurchasesOfFamily(next, F, "a", -1);
    expect(touched()).to.equal(5);
  });
});

describe("an established family", () => {
  const family = (context: ApplyContext, more: Partial<Row<"family">>) => {
    const row = { id: F, foundedTime: START, sellers: 3, established: false, touched: null, ...more };
    context.store.put("family", row);
    looksAgain(context, F);
    return context;
  };
  const becomes = (time: number, more: Partial<Row<"family">> = {}) => {
    const context = family(at(time), more);
    return [told(context), isEstablished(context, F)];
  };

  it("is thirty days old, and bought from three other families", () => {
    expect(becomes(START + MONTH)).to.deep.equal([[F], true]);
    expect(becomes(START + MONTH - 1)).to.deep.equal([[], false]);
    expect(becomes(START + MONTH, { sellers: 2 })).to.deep.equal([[], false]);
    expect(becomes(START + MONTH, { sellers: 4 })).to.deep.equal([[F], true]);
    expect(isEstablished(at(START), F)).to.equal(false);
  });

  it("is told only when that changed, and loses the state again", () => {
    expect(becomes(START + MONTH, { established: true })).to.deep.equal([[], true]);
    expect(becomes(START + MONTH, { established: true, sellers: 2 })).to.deep.equal([[F], false]);
  });

  it("is looked at once in a tick, and not in the next one", () => {
    const context = family(at(START + MONTH, { ticks: 4 }), {});
    looksAgain(context, F);
    countPurchasesOfFamily(context, F, "d", 1);
    expect(context.store.get("family", F)).to.include({ touched: 4, sellers: 4 });
    expect(told(context)).to.deep.equal([F]);
    expect(told(context)).to.deep.equal([]);
    const list = context.store.get("list", "families/4");
    expect(list?.length).to.equal(1);
    const next = at(START + MONTH, { ticks: 5, store: context.store });
    context.store.update("family", F, { established: false });
    expect(told(next)).to.deep.equal([]);
    looksAgain(next, F);
    expect(told(next)).to.deep.equal([F]);
  });
});
