import { expect } from "chai";
import { signBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { bookings, EMPTY_BOOK, leftIn, memoryBudget } from "tallystick-sdk/budget/budget";
import { openPostgresBudget } from "tallystick-sdk/budget/postgresBudget";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { openTokenBudget } from "tallystick-sdk/budget/tokenBudget";
import { BudgetError } from "tallystick-sdk/errors";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import { rejection } from "./support/tamper.ts";

describe("the books of a budget", () => {
  it("are changed without changing the books before", () => {
    expect(EMPTY_BOOK).to.deep.equal({ spent: "0", reserved: {} });
    const book = { spent: "5", reserved: { a: "10", b: "20" } };
    const before = structuredClone(book);
    expect(leftIn(book, 100n)).to.equal(65n);
    expect(bookings.reserve(book, 100n, "c", 65n)).to.deep.equal({
      ...{ spent: "5", reserved: { a: "10", b: "20", c: "65" } },
    });
    expect(bookings.reserve(book, 100n, "a", 75n).reserved).to.deep.equal({ a: "75", b: "20" });
    expect(bookings.reserve(book, 100n, "c", 0n).reserved).to.deep.equal({ a: "10", b: "20", c: "0" });
    expect(bookings.spend(book, "a")).to.deep.equal({ spent: "15", reserved: { b: "20" } });
    expect(bookings.spend(book, "x")).to.deep.equal(book);
    expect(bookings.giveBack(book, "b")).to.deep.equal({ spent: "5", reserved: { a: "10" } });
    expect(book).to.deep.equal(before);
    for (const [hire, amount, left] of [
      ["c", 66n, 65n],
      ["a", 76n, 75n],
    ] as const) {
      expect(() => bookings.reserve(book, 100n, hire, amount))
        .to.throw(BudgetError)
        .that.deep.includes({
          code: "budget_exceeded",
          message: `0.0000${amount} USDC is more than the 0.0000${left} USDC that are left of the budget.`,
          hint: "Raise the budget, or wait for money held in escrows to come back.",
          details: { amount: String(amount), left: String(left) },
        });
    }
    expect(() => bookings.reserve(book, 100n, "c", -1n)).to.throw(
      RangeError,
      "an amount must not be negative",
    );
  });

  it("have another amount for a hire that is reserved again, in memory", async () => {
    const budget = memoryBudget(100n);
    await budget.reserve("a", 100n);
    await budget.reserve("a", 40n);
    expect(await budget.remaining()).to.equal(60n);
    await budget.recall?.("b", 70n);
    expect(await budget.remaining()).to.equal(-10n);
  });
});

describe("the books of a budget in a store", () => {
  let store: KeyValueStore;
  beforeEach(() => {
    store = memoryStore();
  });
  const open = () => storeBudget({ store, name: "b", limit: 100n });

  it("are numbered, and the books before are removed", async () => {
    const budget = open();
    await budget.reserve("a", 30n);
    expect(await store.keys("budget")).to.deep.equal(["budget/b.1"]);
    await budget.spend("a");
    await budget.reserve("b", 10n);
    expect(await store.keys("budget")).to.deep.equal(["budget/b.3"]);
    expect(await store.get("budget/b.3")).to.deep.equal({ spent: "30", reserved: { b: "10" } });
    await budget.giveBack("b");
    expect([await budget.remaining(), await store.keys("budget")]).to.deep.equal([70n, ["budget/b.4"]]);
  });

  it("with the highest number count, and those of other budgets do not", async () => {
    const book = (spent: number) => ({ spent: String(spent), reserved: {} });
    await store.put("budget/b.9", book(9));
    await store.put("budget/b.10", book(10));
    for (const other of ["bb.12", "a.b.12", "b.b.12", "b.012", "b.1234567890123456", "b.", "b"])
      await store.put(`budget/${other}`, book(99));
    expect(await open().remaining()).to.equal(90n);
    await store.put("budget/b.123456789012345", book(11));
    expect(await open().remaining()).to.equal(89n);
  });

  it("are read again if another process has replaced them meanwhile", async () => {
    const budget = open();
    await budget.reserve("a", 30n);
    const { get } = store;
    let reads = 0;
    store.get = async (key) => {
      if (reads++ === 0) await storeBudget({ store: { ...store, get }, name: "b", limit: 100n }).spend("a");
      return await get(key);
    };
    expect(await budget.remaining()).to.equal(70n);
    expect(reads).to.equal(2);
  });

  it("are changed again if another process was faster, also if its books are gone already", async () => {
    const others = storeBudget({ store: { ...store }, name: "b", limit: 100n });
    const { putNew } = store;
    let writes = 0;
    store.putNew = async (key, value) => {
      if (writes++ === 0) {
        // The faster process writes the same number, and then newer books, which remove this number.
        await others.reserve("x", 10n);
        await others.reserve("y", 20n);
      }
      return await putNew(key, value);
    };
    await open().reserve("a", 70n);
    expect(await store.keys("budget")).to.deep.equal(["budget/b.3"]);
    expect(await open().remaining()).to.equal(0n);
    expect(writes).to.equal(2);
    writes = 0;
    store.putNew = async (key, value) => {
      if (writes++ === 0) await others.giveBack("x");
      return await putNew(key, value);
    };
    await open().spend("y");
    expect([writes, await open().remaining()]).to.deep.equal([2, 10n]);
  });

  it("are given up if other processes are always faster", async () => {
    let writes = 0;
    store.putNew = async () => {
      writes++;
      return false;
    };
    const error = await rejection(open().reserve("a", 1n));
    expect(error).to.include({
      ...{ code: "budget_busy", message: "Too many processes change the budget b at the same time." },
    });
    expect(writes).to.equal(10_000);
  });
});

describe("the books of a budget in Postgres", () => {
  const asked: { text: string; values: unknown[] | undefined }[] = [];
  let answers: { rows: { [column: string]: unknown }[] }[];
  const client = {
    query: async (text: string, values?: unknown[]) => {
      asked.push({ text, values });
      return answers.shift() ?? { rows: [] };
    },
  };
  beforeEach(() => {
    [asked.length, answers] = [0, []];
  });
  const open = async (next: typeof answers) => {
    const budget = await openPostgresBudget({ client, name: "b", limit: 100n });
    asked.length = 0;
    answers = next;
    return budget;
  };

  it("are asked with amounts as texts, because a number would not be exact", async () => {
    const limit = 2n ** 70n;
    const budget = await openPostgresBudget({ client, name: "b", limit });
    expect(asked.map(({ values }) => values)).to.deep.equal([undefined, ["b"]]);
    answers = [{ rows: [{ hire_id: "a" }] }];
    await budget.reserve("a", limit);
    expect(asked.at(-1)?.values).to.deep.equal(["b", "a", String(limit), String(limit)]);
    await budget.spend("a");
    await budget.giveBack("a");
    expect(asked.slice(-2).map(({ values }) => values)).to.deep.equal([
      ["b", "a"],
      ["b", "a"],
    ]);
    answers = [{ rows: [{ taken: "7" }] }];
    expect(await budget.remaining()).to.equal(limit - 7n);
    answers = [{ rows: [] }];
    expect(await budget.remaining()).to.equal(limit);
  });

  it("say what is left if an amount does not fit, and accept the same reservation again", async () => {
    let budget = await open([{ rows: [] }, { rows: [{ amount: "5" }] }]);
    await budget.reserve("a", 5n);
    expect(asked).to.have.length(2);
    for (const known of [[], [{ amount: "6" }]]) {
      budget = await open([{ rows: [] }, { rows: known }, { rows: [{ taken: "98" }] }]);
      expect((await rejection(budget.reserve("a", 5n))).details).to.deep.equal({ amount: "5", left: "2" });
    }
    asked.length = 0;
    const refused = await rejection(budget.reserve("a", -1n));
    expect(refused).to.be.instanceOf(RangeError).with.property("message", "an amount must not be negative");
    answers = [{ rows: [{ hire_id: "a" }] }];
    await budget.reserve("a", 0n);
    expect(asked).to.have.length(1);
  });
});

describe("the budget of a token", () => {
  const operator = privateKeyToAccount(`0x${"11".repeat(32)}`);
  const agent = privateKeyToAccount(`0x${"22".repeat(32)}`).address.toLowerCase() as `0x${string}`;
  const NOW = 1_500_000_000;
  const tokenOf = () =>
    signBudgetToken(
      { agent_id: agent, max_amount_usdc: "5.00", max_duration_seconds: 60, issued_at: NOW },
      { account: operator },
    );

  it("has a name that follows from the token, and the token's amount", async () => {
    const token = await tokenOf();
    const opened: unknown[][] = [];
    const budget = await openTokenBudget({
      ...{ token, agent, operators: [operator.address], now: () => NOW * 1_000 + 999 },
      open: (...of) => {
        opened.push(of);
        return memoryBudget(of[1]);
      },
    });
    expect(opened).to.have.length(1);
    expect(opened[0]?.[0]).to.match(/^token-[0-9a-f]{64}$/);
    expect(opened[0]?.[1]).to.equal(5_000_000n);
    expect(budget.token).to.equal(token);
    await budget.reserve("a", 5n);
    expect(await budget.remaining()).to.equal(4_999_995n);
  });

  it("is refused to others, with the reason and what to do", async () => {
    const token = await tokenOf();
    const other = `0x${"99".repeat(20)}` as const;
    const hint = "Ask the operator for a budget token for this wallet.";
    const signer = operator.address.toLowerCase();
    for (const [operators, wallet, problem] of [
      [[other], agent, `is signed by ${signer}, who is none of the operators`],
      [[other, operator.address], other, `is for ${agent}, not for ${other}`],
    ] as const) {
      const error = await rejection(openTokenBudget({ token, operators, agent: wallet }));
      expect(error)
        .to.be.instanceOf(BudgetError)
        .and.include({
          ...{
            code: "budget_token_refused",
            field: "budget_token",
            message: `budget_token: ${problem}`,
            hint,
          },
        });
    }
  });

  it("reserves nothing after the token's end, and gives the reason as its own error", async () => {
    const token = await tokenOf();
    let now = NOW * 1_000;
    const inner = memoryBudget(9n);
    const budget = await openTokenBudget({
      ...{ token, agent, operators: [operator.address], now: () => now, open: () => inner },
    });
    now += 60_000;
    const error = await rejection(budget.reserve("a", 1n));
    expect(error).to.be.instanceOf(BudgetError).and.include({ code: "budget_token_refused" });
    expect(error.cause).to.be.instanceOf(Error).with.property("message", error.message);
    expect(error.hint).to.equal((error.cause as BudgetError).hint);
    expect(error.field).to.equal((error.cause as BudgetError).field);
    expect(await inner.remaining()).to.equal(9n);
    // By the clock of this machine, the token is long over.
    const late = await openTokenBudget({ token, agent, operators: [operator.address], open: () => inner });
    expect(await rejection(late.reserve("a", 1n))).to.include({ code: "budget_token_refused" });
  });
});
