import { expect } from "chai";
import { type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { parseRules } from "../../../services/settlement/engine/institutionalRules.ts";
import { RuleBook } from "../../../services/settlement/engine/ruleBook.ts";

const bookOf = (rules: object) =>
  new RuleBook(
    parseRules(parsePythonJson(JSON.stringify({ version: 3, ...rules })), {
      ...{ minConfidence: 0.85, maxDriftAllowed: 0.15 },
    }),
  );
const entryOf = (timestamp: number, payload: { [key: string]: PyJson }): LedgerEntry => ({
  ...{ timestamp, taskId: "t", parentHash: "", currentHash: "", payload },
});
const budget = (max: string, per_seconds: number, field = "usd") => ({ field, max, per_seconds });

describe("the book of rules", () => {
  it("says why it refuses: the field, the rule and its version", () => {
    const book = bookOf({
      types: {
        "*": { type: "object", properties: { note: { type: "string" } } },
        article: {
          ...{ type: "object" },
          properties: { title: { type: "object", required: ["en"], properties: { en: { type: "string" } } } },
        },
      },
      actions: {
        "*": { allow: false },
        pay: { max: { usd: "100.5" }, budget: [budget("120.000001", 60), budget("7", 60, "cents")] },
        gift: { budget: [budget("10", 60)] },
        tip: { max: { usd: 1 } },
      },
    });
    const data = "payload.data_update";
    const pay = "(rules version 3, action pay)";
    const amount = `must be an amount, 0 or more ${pay}.`;
    const cases: [{ [key: string]: PyJson }, string | undefined][] = [
      [{}, undefined],
      [{ type: 7n }, undefined],
      [{ action: "pay", usd: 100n, cents: 7n }, undefined],
      [{ action: 7n }, `${data}.action: must be a string (rules version 3).`],
      [{ action: "fly" }, "This action is not allowed (rules version 3, action fly)."],
      [{ action: "pay", cents: 1n }, `${data}.usd: ${amount}`],
      [{ action: "pay", usd: "-1", cents: 1n }, `${data}.usd: ${amount}`],
      [{ action: "pay", usd: 1n }, `${data}.cents: ${amount}`],
      [{ action: "tip" }, `${data}.usd: must be an amount, 0 or more (rules version 3, action tip).`],
      [{ action: "pay", usd: "100.500001" }, `${data}.usd: is more than 100.5 ${pay}.`],
      [{ action: "pay", usd: 1n, cents: 8n }, `${data}.cents: the budget of 60 s has 7 of 7 left ${pay}.`],
    ];
    for (const [dataUpdate, said] of cases) expect(book.refusal(dataUpdate, 0), String(said)).to.equal(said);
    expect(book.refusal({ note: 7n }, 0)).to.match(
      /^payload\.data_update\.note: .+ \(rules version 3, type \*\)\.$/,
    );
    expect(book.refusal({ type: "article", title: {} }, 0)).to.match(
      /^payload\.data_update\.title\.en: .+ \(rules version 3, type article\)\.$/,
    );
    book.add(entryOf(0, { data_update: { action: "pay", usd: 100n, cents: 0n } }));
    const left = (rest: string, max: string, action: string) =>
      `${data}.usd: the budget of 60 s has ${rest} of ${max} left (rules version 3, action ${action}).`;
    expect(book.refusal({ action: "pay", usd: 21n, cents: 0n }, 0)).to.equal(
      left("20.000001", "120.000001", "pay"),
    );
    // The ledger's writer had other rules before.
    book.add(entryOf(0, { data_update: { action: "gift", usd: 11n } }));
    expect(book.refusal({ action: "gift", usd: "0.000001" }, 59)).to.equal(left("0", "10", "gift"));
    expect(book.refusal({ action: "gift", usd: 10n }, 60)).to.equal(undefined);
  });

  it("ignores entries without an action, and reserves nothing for them", () => {
    const book = bookOf({ actions: { "*": { budget: [budget("10", 60)] } } });
    const others: PyJson[] = [null, "pay", 7n, [], ["pay"], {}, { action: 7n, usd: 9n }, { usd: 9n }];
    for (const dataUpdate of others) book.add(entryOf(1_000, { data_update: dataUpdate }));
    book.add(entryOf(1_000, {}));
    book.reserve({ usd: 9n });
    book.reserve({ action: null, usd: 9n });
    expect(book.refusal({ action: "pay", usd: 10n }, 0)).to.equal(undefined);
    const end = book.reserve({ action: "pay", usd: 9n });
    expect(book.refusal({ action: "other", usd: 2n }, 0)).to.contain("has 1 of 10 left");
    end();
    expect(book.refusal({ action: "other", usd: 10n }, 0)).to.equal(undefined);
  });

  it("forgets what is older than every budget of its field, and remembers no spending of zero", () => {
    const book = bookOf({
      actions: {
        "*": { allow: false },
        pay: { budget: [budget("5000", 60), budget("5000", 600), budget("9000", 6_000, "cents")] },
      },
    });
    const { push, splice } = Array.prototype;
    // The numbers of spendings that the book remembers, and of all that it ever remembered.
    let [held, ever] = [0, 0];
    const isSpending = (it: unknown) => typeof it === "object" && it !== null && "total" in it;
    Array.prototype.push = function (...items: unknown[]) {
      const added = items.filter(isSpending).length;
      [held, ever] = [held + added, ever + added];
      return push.apply(this, items);
    };
    Array.prototype.splice = function (...of: unknown[]) {
      const gone = splice.apply(this, of as [number, number]);
      held -= gone.filter(isSpending).length;
      return gone;
    };
    try {
      const pay = (time: number, usd: bigint, cents: bigint) =>
        book.add(entryOf(time, { data_update: { action: "pay", usd, cents } }));
      for (let time = 1; time <= 2_048; time++) pay(time, time % 2 === 0 ? 1n : 0n, 0n);
      expect([ever, held], "of the first 1,024 the last 300 are younger than 600 s").to.deep.equal([
        1_024, 300,
      ]);
      expect(book.refusal({ action: "pay", usd: 4_701n, cents: 0n }, 2_048)).to.contain(
        "of 600 s has 4700 of 5000 left",
      );
      expect(book.refusal({ action: "pay", usd: 4_700n, cents: 0n }, 2_048)).to.equal(undefined);
      for (let time = 2_049; time <= 3_072; time++) pay(time, 0n, 1n);
      expect([ever, held], "cents are remembered for 6,000 s").to.deep.equal([2_048, 1_324]);
    } finally {
      Array.prototype.push = push;
      Array.prototype.splice = splice;
    }
    expect(book.refusal({ action: "pay", usd: 0n, cents: 7_977n }, 3_072)).to.contain(
      "has 7976 of 9000 left",
    );
  });

  it("looks back as far as its longest budget, and as far as nothing without budgets", () => {
    expect(bookOf({}).longestBudget).to.equal(0);
    const actions = {
      "*": { budget: [budget("1", 60), budget("1", 3_600)] },
      a: { budget: [budget("1", 7_200)] },
    };
    expect(bookOf({ actions }).longestBudget).to.equal(7_200);
  });

  it("takes the default rule for `*` itself and for unknown actions, but permission only for those without a rule", () => {
    const book = bookOf({ actions: { "*": { allow: false }, stop: { allow: false }, go: {} } });
    const isAllowed = (action: string, isPermitted: boolean) =>
      book.refusal({ action }, 0, isPermitted) === undefined;
    const asked = ["*", "other", "stop", "go"];
    expect(asked.map((action) => isAllowed(action, false))).to.deep.equal([false, false, false, true]);
    expect(asked.map((action) => isAllowed(action, true))).to.deep.equal([true, true, false, true]);
  });
});
