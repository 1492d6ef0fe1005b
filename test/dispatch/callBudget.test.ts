import { expect } from "chai";
import fc from "fast-check";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { CallBudgetError, callBudget } from "../../services/dispatch/budget/callBudget.ts";
import { formatDollars, parseDollars, readDollars } from "../../services/dispatch/models/money.ts";
import { twoClocks } from "../../services/dispatch/twoClocks.ts";

const DAY_MS = 86_400_000;

/** Two clocks that always agree. */
const oneClock = (now: () => number) => ({ now, passed: now, latest: now });

type Step =
  | { do: "reserve"; task: number; amount: number }
  | { do: "settle"; call: number; cost: number }
  | { do: "restart" }
  | { do: "tomorrow" };

describe("the budget of calls to models", () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant("reserve" as const), task: fc.nat(2), amount: fc.nat(60) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant("settle" as const), call: fc.nat(30), cost: fc.nat(60) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("tomorrow" as const) }) },
  );

  it("agrees with a plain list of calls, for any concurrent calls, restarts and changes of the day", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 12 }), async (rounds) => {
        const store = memoryStore();
        let now = 0;
        const open = () => callBudget({ store, perTask: 100n, perDay: 150n, clocks: oneClock(() => now) });
        let budget = open();
        /** The oracle: a list of all accepted calls. */
        const calls: { task: string; day: number; amount: bigint; cost?: bigint }[] = [];
        const sum = (of: (call: (typeof calls)[number]) => boolean) =>
          calls.filter(of).reduce((total, { cost, amount }) => total + (cost ?? amount), 0n);
        for (const round of rounds) {
          // A restart or a new day comes between two groups of concurrent calls.
          if (round.some((one) => one.do === "restart")) budget = open();
          if (round.some((one) => one.do === "tomorrow")) now += DAY_MS;
          await Promise.all(
            round.map(async (one: Step) => {
              if (one.do === "settle") {
                const call = calls[one.call];
                if (!call) return;
                const cost = BigInt(Math.min(one.cost, Number(call.amount)));
                // Only the first booking of a call changes something.
                const booked = budget.settle(String(one.call), cost);
                call.cost ??= cost;
                await booked;
              }
              if (one.do === "reserve") {
                const task = `t${one.task}`;
                const day = now / DAY_MS;
                const amount = BigInt(one.amount);
                const ofTask = sum((it) => it.task === task) + amount;
                const ofDay = sum((it) => it.day === day) + amount;
                const id = String(calls.length);
                const isAllowed = ofTask <= 100n && ofDay <= 150n;
                if (isAllowed) calls.push({ task, day, amount });
                const refused = await budget
                  .reserve({ id: isAllowed ? id : `no-${Math.random()}`, task, amount })
                  .then(
                    () => undefined,
                    (error) => error,
                  );
                expect(refused === undefined).to.equal(isAllowed);
                if (refused) expect(refused).to.be.instanceOf(CallBudgetError);
              }
            }),
          );
          const day = now / DAY_MS;
          const { spent, reserved } = await budget.today();
          expect(spent).to.equal(sum((it) => it.day === day && it.cost !== undefined));
          expect(reserved).to.equal(sum((it) => it.day === day && it.cost === undefined));
          expect(spent + reserved <= 150n).to.equal(true);
          for (const task of ["t0", "t1", "t2"]) {
            const open = (await budget.underWay(task)).reduce((total, { amount }) => total + amount, 0n);
            expect(open).to.equal(sum((it) => it.task === task && it.cost === undefined));
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it("does not let a hundred concurrent calls spend more than the budget", async () => {
    const budget = callBudget({
      store: memoryStore(),
      perTask: 1_000n,
      perDay: 70n,
      clocks: oneClock(() => 0),
    });
    const asked = Array.from({ length: 100 }, (_, at) =>
      budget.reserve({ id: `${at}`, task: `${at}`, amount: 3n }),
    );
    const done = await Promise.allSettled(asked);
    expect(done.filter(({ status }) => status === "fulfilled")).to.have.length(23);
  });

  it("uses the lower of a task's own limit and the general limit", async () => {
    for (const [taskLimit, allowed] of [
      [undefined, 100n],
      [40n, 40n],
      [100n, 100n],
      [1_000n, 100n],
    ] as const) {
      const budget = callBudget({
        store: memoryStore(),
        perTask: 100n,
        perDay: 150n,
        clocks: oneClock(() => 0),
      });
      const reserve = (id: string, amount: bigint) => budget.reserve({ id, task: "t", amount, taskLimit });
      const refused = await reserve("a", allowed + 1n).catch((error: unknown) => error);
      expect(refused, String(taskLimit)).to.be.instanceOf(CallBudgetError);
      await reserve("b", allowed);
    }
  });

  it("reserves a running call only once, and forgets what a task spent when the task is over", async () => {
    const budget = callBudget({
      store: memoryStore(),
      perTask: 10n,
      perDay: 100n,
      clocks: oneClock(() => 0),
    });
    const reserve = (id: string) => budget.reserve({ id, task: "t", amount: 10n });
    await reserve("a");
    expect((await reserve("a").catch((error: Error) => error))?.message).to.equal("the call a is under way");
    await budget.settle("a", 10n);
    expect(await reserve("b").catch(({ code }) => code)).to.equal("task_budget_spent");
    await budget.forget("t");
    await budget.forget("unknown");
    await reserve("b");
    expect(await budget.today()).to.deep.equal({ spent: 10n, reserved: 10n });
  });

  it("does not start a new day when the clock is set back", async () => {
    const store = memoryStore();
    let now = 5 * DAY_MS;
    const budget = callBudget({ store, perTask: 10n, perDay: 10n, clocks: oneClock(() => now) });
    await budget.reserve({ id: "a", task: "a", amount: 10n });
    await budget.settle("a", 10n);
    now -= 2 * DAY_MS;
    const error = await budget.reserve({ id: "b", task: "b", amount: 1n }).catch((it) => it);
    expect(error).to.include({ code: "day_budget_spent" });
  });

  it("returns from a future day after the clock was wrong, and counts what was spent on that day as spent today", async () => {
    const store = memoryStore();
    let now = 400 * DAY_MS;
    const budget = callBudget({ store, perTask: 10n, perDay: 10n, clocks: oneClock(() => now) });
    await budget.reserve({ id: "a", task: "a", amount: 6n });
    await budget.settle("a", 6n);
    await budget.reserve({ id: "b", task: "b", amount: 4n });
    now = 5 * DAY_MS;
    expect(await budget.today()).to.deep.equal({ spent: 6n, reserved: 4n });
    const error = await budget.reserve({ id: "c", task: "c", amount: 1n }).catch((it) => it);
    expect(error).to.include({ code: "day_budget_spent" });
    await budget.settle("b", 4n);
    now += DAY_MS;
    await budget.reserve({ id: "d", task: "d", amount: 10n });
  });

  it("begins a new day only when this machine's clock and settlement's both say so", async () => {
    const clock = { own: 5 * DAY_MS, settlement: 5 * DAY_MS };
    const given = { store: memoryStore(), perTask: 10n, perDay: 10n };
    const elapsed = () => 0;
    const clocks = twoClocks(() => clock.own, elapsed);
    const budget = callBudget({ ...given, clocks });
    const noteTime = (to = clocks) =>
      to.note(new Response("", { headers: { date: new Date(clock.settlement).toUTCString() } }));
    let calls = 0;
    const spend = async (from = budget) => {
      const id = String(calls++);
      return await from.reserve({ id, task: id, amount: 10n }).then(
        async () => {
          await from.settle(id, 10n);
          return "spent";
        },
        ({ code }) => code as string,
      );
    };
    noteTime();
    expect(await spend()).to.equal("spent");
    for (const wrong of [
      { own: 7 * DAY_MS },
      { own: 5 * DAY_MS, settlement: 8 * DAY_MS },
      { settlement: 2 * DAY_MS },
      { own: 0, settlement: 5 * DAY_MS },
      { own: 5 * DAY_MS },
    ]) {
      Object.assign(clock, wrong);
      noteTime();
      expect(await spend(), JSON.stringify(clock)).to.equal("day_budget_spent");
    }
    // A process that starts with a wrong clock does not believe it before settlement answers.
    clock.own = 400 * DAY_MS;
    const others = twoClocks(() => clock.own, elapsed);
    const next = callBudget({ ...given, clocks: others });
    expect(await spend(next)).to.equal("day_budget_spent");
    [clock.own, clock.settlement] = [6 * DAY_MS, 6 * DAY_MS];
    noteTime(others);
    expect(await spend(next)).to.equal("spent");
  });

  it("begins each day of settlement's clock if this machine's clock was far ahead when the store was made", async () => {
    let day = 5;
    const clocks = twoClocks(
      () => (day + 400) * DAY_MS,
      () => 0,
    );
    const budget = callBudget({ store: memoryStore(), perTask: 10n, perDay: 10n, clocks });
    for (; day < 7; day++) {
      clocks.note(new Response("", { headers: { date: new Date(day * DAY_MS).toUTCString() } }));
      const id = String(day);
      await budget.reserve({ id, task: id, amount: 10n });
      await budget.settle(id, 10n);
    }
  });

  it("is written in dollars, and is read again without the loss of a digit", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (amount) => {
        expect(readDollars(formatDollars(amount))).to.equal(amount);
      }),
    );
    expect(formatDollars(parseDollars("0.5", "x"))).to.equal("0.50");
    expect(formatDollars(1n)).to.equal("0.000000000001");
    for (const bad of ["", "1", "1.0", "1.0000000000001", "-1.00", "1e3", "1.00 "])
      expect(readDollars(bad)).to.equal(undefined);
  });
});
