import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import fc from "fast-check";
import pg from "pg";
import { readBudgetToken, signBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { type Budget, everyBudget, memoryBudget } from "tallystick-sdk/budget/budget";
import { openPostgresBudget } from "tallystick-sdk/budget/postgresBudget";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { openTokenBudget } from "tallystick-sdk/budget/tokenBudget";
import { BudgetError } from "tallystick-sdk/errors";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { getAddress } from "viem";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { testDatabase } from "../support/testDatabase.ts";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const NOW = 1_767_225_600;

describe("a budget", () => {
  const kinds: [string, (limit: bigint) => Budget][] = [
    ["of a process", memoryBudget],
    ["in a store", (limit) => storeBudget({ store: memoryStore(), name: "b", limit })],
    ["of several budgets", (limit) => everyBudget(memoryBudget(limit + 7n), memoryBudget(limit))],
  ];
  for (const [kind, open] of kinds) {
    it(`${kind} allows exactly its limit, and reserves once for each hire`, async () => {
      const limit = 2n ** 64n + 1n;
      const budget = open(limit);
      await budget.reserve("a", limit - 1n);
      await budget.reserve("a", limit - 1n);
      const error = await rejection(budget.reserve("b", 2n));
      expect(error).to.be.instanceOf(BudgetError).and.include({ code: "budget_exceeded" });
      expect(error.details).to.deep.equal({ amount: "2", left: "1" });
      await budget.reserve("b", 1n);
      expect(await budget.remaining()).to.equal(0n);
      await budget.spend("a");
      await budget.giveBack("a");
      await budget.giveBack("unknown");
      await budget.giveBack("b");
      expect(await budget.remaining()).to.equal(1n);
    });

    it(`${kind} gives the same amounts as plain sums, for any operations in any order`, async () => {
      const step = fc.record({
        what: fc.constantFrom("reserve", "spend", "giveBack"),
        hire: fc.nat(3),
        amount: fc.nat(60),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const budget = open(100n);
          const reserved = new Map<number, number>();
          let spent = 0;
          const left = () => 100 - spent - [...reserved.values()].reduce((sum, it) => sum + it, 0);
          for (const { what, hire, amount } of steps) {
            if (what === "reserve") {
              const fits = amount <= left() + (reserved.get(hire) ?? 0);
              const done = await budget.reserve(String(hire), BigInt(amount)).then(
                () => true,
                () => false,
              );
              expect(done).to.equal(fits);
              if (fits) reserved.set(hire, amount);
            } else if (what === "spend") {
              await budget.spend(String(hire));
              spent += reserved.get(hire) ?? 0;
              reserved.delete(hire);
            } else {
              await budget.giveBack(String(hire));
              reserved.delete(hire);
            }
            expect(await budget.remaining()).to.equal(BigInt(left()));
          }
        }),
        { numRuns: 30 },
      );
    });
  }

  it("refuses a negative amount", async () => {
    for (const [kind, open] of kinds)
      expect(await rejection(open(10n).reserve("a", -1n)), kind).to.be.instanceOf(RangeError);
  });

  it("of several budgets reserves in all of them or in none, and recalls a hire in those that forget", async () => {
    const token = { operator: "o" } as unknown as NonNullable<Budget["token"]>;
    const parts = [memoryBudget(100n), { ...memoryBudget(90n), token }, memoryBudget(80n)] as const;
    const budget = everyBudget(...parts);
    const left = async () => Promise.all(parts.map((it) => it.remaining()));
    expect(budget.token).to.equal(token);
    expect(everyBudget(parts[0])).not.to.have.property("token");
    expect(await rejection(budget.reserve("a", 85n))).to.include({ code: "budget_exceeded" });
    expect(await left(), "if one refuses, none reserves").to.deep.equal([100n, 90n, 80n]);
    await budget.reserve("a", 20n);
    expect(await rejection(budget.reserve("a", 85n))).to.include({ code: "budget_exceeded" });
    expect(await left(), "an earlier reservation stays if more is refused").to.deep.equal([80n, 70n, 60n]);
    await budget.recall?.("a", 200n);
    expect(await left(), "a signed payment counts also beyond the limit").to.deep.equal([
      -100n,
      -110n,
      -120n,
    ]);
    expect(await budget.remaining()).to.equal(-120n);
    expect(await rejection(budget.reserve("b", 0n))).to.include({ code: "budget_exceeded" });
    await budget.giveBack("a");
    expect(await rejection(budget.reserve("a", 85n))).to.include({ code: "budget_exceeded" });
    expect(await left()).to.deep.equal([100n, 90n, 80n]);
    await budget.recall?.("a", 10n);
    expect(await rejection(budget.reserve("a", 85n))).to.include({ code: "budget_exceeded" });
    expect(await left()).to.deep.equal([90n, 80n, 70n]);
    await budget.giveBack("a");
    await budget.reserve("b", 30n);
    await budget.spend("b");
    expect(await rejection(budget.reserve("b", 55n))).to.include({ code: "budget_exceeded" });
    await budget.giveBack("b");
    expect(await left()).to.deep.equal([70n, 60n, 50n]);
    const exact = { ...memoryBudget(10n) };
    delete exact.recall;
    await everyBudget(exact, parts[0]).recall?.("c", 5n);
    expect([await exact.remaining(), await parts[0].remaining()], "no recall, no change").to.deep.equal([
      10n,
      65n,
    ]);
  });

  it("in a store reads only its own entries, and ignores files that a person or a backup left there", async () => {
    const store = memoryStore();
    const budget = storeBudget({ store, name: "b", limit: 100n });
    await budget.reserve("a", 30n);
    for (const left of ["b.1 (copy)", "b.9e9", "b.backup", "b.-1", "b.0x7", "b.٣"])
      await store.put(`budget/${left}`, { spent: "90", reserved: {} });
    await budget.reserve("b", 20n);
    await budget.spend("a");
    expect(await budget.remaining()).to.equal(50n);
  });

  it("in a folder allows exactly its limit to processes that spend at the same time", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tallystick-budget-"));
    try {
      const spend = async (name: string): Promise<number> => {
        const args = nodeProgram("test/sdk/support/spendBudget.ts", [folder, name, "40"]);
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
        const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
        return Number(output);
      };
      // Two processes try 40 reservations of 7 each: 560 together. A budget of 500 allows 71 reservations.
      const taken = await Promise.all(["one", "two"].map(spend));
      expect(taken.reduce((sum, count) => sum + count, 0)).to.equal(71);
      const budget = storeBudget({ store: fileStore(folder), name: "shared", limit: 500n });
      expect(await budget.remaining()).to.equal(3n);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("in Postgres allows exactly its limit to connections that spend at the same time", async () => {
    const client = new pg.Pool({ connectionString: await testDatabase(), max: 8 });
    try {
      const open = () => openPostgresBudget({ client, name: "shared", limit: 500n });
      const budgets = [await open(), await open()];
      const tries = Array.from({ length: 100 }, (_, at) =>
        budgets[at % 2]!.reserve(`hire-${at}`, 7n).then(
          () => 1,
          () => 0,
        ),
      );
      const taken = (await Promise.all<number>(tries)).reduce((sum, it) => sum + it, 0);
      expect(taken).to.equal(71);
      const [budget] = budgets;
      expect(await budget!.remaining()).to.equal(3n);
      await budget!.reserve("small", 3n);
      await budget!.reserve("small", 3n);
      expect(await rejection(budget!.reserve("more", 1n))).to.include({ code: "budget_exceeded" });
      await budget!.giveBack("small");
      await budget!.giveBack("small");
      expect(await budget!.remaining()).to.equal(3n);
    } finally {
      await client.end();
    }
  });

  it("in Postgres books each hire once, is separate from other budgets, and stays after it is opened again", async () => {
    const client = new pg.Pool({ connectionString: await testDatabase(), max: 1 });
    const open = (name: string, limit = 100n) => openPostgresBudget({ client, name, limit });
    try {
      const [budget, other] = [await open("one"), await open("other")];
      for (const it of [budget, other]) await it.reserve("a", 60n);
      await budget.reserve("a", 60n);
      expect(await rejection(budget.reserve("a", 61n)), "another amount").to.include({
        code: "budget_exceeded",
      });
      expect(await rejection(budget.reserve("b", 41n))).to.have.deep.property("details", {
        amount: "41",
        left: "40",
      });
      expect(await rejection(budget.reserve("b", -1n))).to.be.instanceOf(RangeError);
      await budget.reserve("b", 40n);
      await budget.spend("a");
      await budget.giveBack("a");
      expect(await budget.remaining(), "spent money does not come back").to.equal(0n);
      await budget.giveBack("b");
      expect(await (await open("one")).remaining()).to.equal(40n);
      await budget.reserve("a", 5n);
      expect(await (await open("one", 200n)).remaining(), "a raised limit").to.equal(135n);
      expect(await other.remaining()).to.equal(40n);
      await other.giveBack("a");
      expect([await budget.remaining(), await other.remaining()]).to.deep.equal([35n, 100n]);
    } finally {
      await client.end();
    }
  });
});

describe("a budget token", () => {
  const operator = newWallet();
  const agent = newWallet();
  const terms = {
    agent_id: agent.address,
    max_amount_usdc: "5.00",
    max_duration_seconds: 3_600,
    issued_at: NOW,
  };
  const open = async (token: Awaited<ReturnType<typeof signBudgetToken>>, seconds = NOW, wallet = agent) =>
    await openTokenBudget({
      token,
      operators: [operator.address],
      agent: wallet.address,
      now: () => seconds * 1000,
    });

  it("takes addresses in mixed case, as wallets write them", async () => {
    const token = await signBudgetToken(terms, operator);
    const operators = [getAddress(operator.address)];
    const budget = await openTokenBudget({
      ...{ token, operators, agent: agent.account.address, now: () => NOW * 1000 },
    });
    expect(await budget.remaining()).to.equal(5_000_000n);
    await budget.reserve("a", 1n);
  });

  it("allows an amount, for one wallet, for a limited time", async () => {
    const token = await signBudgetToken(terms, operator);
    expect(readBudgetToken(token)).to.deep.equal({
      operator: operator.address,
      agent: agent.address,
      maxAtomic: 5_000_000n,
      from: NOW,
      until: NOW + 3_600,
    });
    const budget = await open(token);
    expect(budget.token).to.equal(token);
    await budget.reserve("a", 4_999_999n);
    expect(await rejection(budget.reserve("b", 2n))).to.include({ code: "budget_exceeded" });
    for (const [time, isGood] of [
      [NOW - 1, false],
      [NOW, true],
      [NOW + 3_599, true],
      [NOW + 3_600, false],
    ] as const) {
      const at = await open(token, time);
      const error = await at.reserve("x", 1n).then(
        () => undefined,
        (it) => it,
      );
      expect(error === undefined, String(time)).to.equal(isGood);
      if (error) expect(error).to.be.instanceOf(BudgetError).and.include({ code: "budget_token_refused" });
    }
    expect(await rejection(open(token, NOW, newWallet()))).to.include({ code: "budget_token_refused" });
  });

  it("is not valid if somebody else signed it, or after any change", async () => {
    const stranger = await signBudgetToken(terms, newWallet());
    expect(await rejection(open(stranger))).to.include({ code: "budget_token_refused" });
    const token = await signBudgetToken(terms, operator);
    expect(await rejection(open({ ...token, max_amount_usdc: "500.00" }))).to.include({
      code: "budget_token_refused",
    });
    expect(await rejection(open({ ...token, more: 1 } as never))).to.include({
      code: "budget_token_refused",
    });
    expect(await rejection(open({ ...token, signature: "0x12" }))).to.include({
      field: "budget_token.signature",
    });
    expect(await rejection(open({ ...token, issued_at: 1.5 }))).to.include({
      field: "budget_token.issued_at",
    });
  });

  it("is one budget for any number of processes on one store", async () => {
    const token = await signBudgetToken(terms, operator);
    const store = memoryStore();
    const openShared = () =>
      openTokenBudget({
        token,
        operators: [operator.address],
        agent: agent.address,
        now: () => NOW * 1000,
        open: (name, limit) => storeBudget({ store, name, limit }),
      });
    await (await openShared()).reserve("a", 3_000_000n);
    expect(await rejection((await openShared()).reserve("b", 2_000_001n))).to.include({
      code: "budget_exceeded",
    });
    expect(await (await openShared()).remaining()).to.equal(2_000_000n);
  });
});
