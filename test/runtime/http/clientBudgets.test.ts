import { expect } from "chai";
import fc from "fast-check";
import { type BudgetLimits, ClientBudgets } from "tallystick-runtime/http/clientBudgets";

const limits: BudgetLimits = { pointsPerSecond: 2, burst: 10, atOnce: 2, waiting: 1, streams: 2 };

describe("the budget of a client", () => {
  let now = 0;
  const open = (more: Partial<BudgetLimits> = {}) =>
    new ClientBudgets({ ...limits, ...more }, () => now, 100);
  beforeEach(() => {
    now = 1_000;
  });

  it("falls with each request, rises with time, and tells the client how long to wait", () => {
    const budgets = open();
    for (let n = 0; n < 10; n++) {
      expect(budgets.of("a").secondsToWait, `request ${n}`).to.equal(0);
      budgets.of("a").charge(1);
    }
    expect(budgets.of("a").secondsToWait).to.equal(1);
    expect(budgets.of("b").secondsToWait).to.equal(0);
    now += 0.5;
    expect(budgets.of("a").secondsToWait).to.equal(0);
    now += 1_000;
    budgets.of("a").charge(9.5);
    expect(budgets.of("a").secondsToWait).to.equal(1);
  });

  it("may be negative after an expensive answer, by at most one burst", () => {
    const budget = open().of("a");
    budget.charge(1e9);
    expect(budget.secondsToWait).to.equal(Math.ceil((10 + 1) / 2));
    now += 6;
    expect(budget.secondsToWait).to.equal(0);
  });

  it("does not change when the clock is set back", () => {
    const budget = open().of("a");
    budget.charge(10);
    now -= 500;
    expect(budget.secondsToWait).to.equal(1);
    now += 1;
    expect(budget.secondsToWait).to.equal(0);
  });

  it("runs a limited number of requests, queues a limited number, and refuses more", () => {
    const budgets = open();
    const begun: string[] = [];
    const take = (name: string) => budgets.of("a").takeTurn(() => begun.push(name));
    const [first, second, third] = [take("first"), take("second"), take("third")];
    expect(begun).to.deep.equal(["first", "second"]);
    expect(third).to.be.a("function");
    expect(take("fourth")).to.equal(undefined);
    budgets.of("b").takeTurn(() => begun.push("of another"));
    expect(begun).to.deep.equal(["first", "second", "of another"]);
    second?.();
    second?.();
    expect(begun).to.deep.equal(["first", "second", "of another", "third"]);
    const fifth = take("fifth");
    fifth?.();
    first?.();
    third?.();
    take("sixth");
    expect(begun.slice(4)).to.deep.equal(["sixth"]);
  });

  it("gives one turn at a time to a client that spends more than it earns, and no turn while others have one", () => {
    const budgets = open();
    const begun: string[] = [];
    const take = (client: string, name: string) => budgets.of(client).takeTurn(() => begun.push(name));
    budgets.of("loud").charge(3);
    const [first, second] = [take("loud", "first"), take("loud", "second")];
    expect(begun).to.deep.equal(["first"]);
    const quiet = take("quiet", "of another");
    first?.();
    expect(begun).to.deep.equal(["first", "of another"]);
    quiet?.();
    expect(begun).to.deep.equal(["first", "of another", "second"]);
    second?.();
    // After it has earned what it spent, it gets turns like any other client.
    now += 2;
    take("loud", "third");
    take("loud", "fourth");
    expect(begun.slice(3)).to.deep.equal(["third", "fourth"]);
  });

  it("lets such a client rest as long as its last request took, and at most 100 ms", async () => {
    const budgets = open();
    const loud = budgets.of("loud");
    for (const seconds of [0.03, 100]) {
      loud.charge(3);
      const begun: string[] = [];
      const first = loud.takeTurn(() => begun.push("first"));
      now += seconds;
      // It has spent what it earned in this time.
      loud.charge(1_000);
      const second = new Promise<void>((resolve) => {
        const end = loud.takeTurn(() => {
          begun.push("second");
          queueMicrotask(() => {
            end?.();
            resolve();
          });
        });
      });
      const ended = performance.now();
      first?.();
      budgets.of("quiet").takeTurn(() => begun.push("of another"))?.();
      expect(begun).to.deep.equal(["first", "of another"]);
      await second;
      // Timers of Node may be one millisecond early.
      expect(performance.now() - ended).to.be.at.least(Math.min(1_000 * seconds, 100) - 2);
      now += 100;
    }
  });

  it("costs the turns of others nothing while it rests, however many clients rest", () => {
    let looks = 0;
    const budgets = new ClientBudgets(limits, () => {
      looks++;
      return now;
    });
    const ends = Array.from({ length: 100 }, (_, n) => {
      const loud = budgets.of(`loud ${n}`);
      loud.charge(1_000);
      const end = loud.takeTurn(() => {});
      loud.takeTurn(() => {});
      return end;
    });
    now += 0.5;
    for (const end of ends) end?.();
    looks = 0;
    budgets.of("quiet").takeTurn(() => {})?.();
    expect(looks, "looks at the clock").to.be.at.most(20);
  });

  it("does not let a client rest that spends no more than it earns", () => {
    const budget = open().of("a");
    const begun: string[] = [];
    const first = budget.takeTurn(() => begun.push("first"));
    now += 5;
    first?.();
    budget.takeTurn(() => begun.push("second"));
    expect(begun).to.deep.equal(["first", "second"]);
  });

  it("does not let such a client wait forever, even if others always have a turn", async () => {
    const budgets = open();
    budgets.of("quiet").takeTurn(() => {});
    budgets.of("loud").charge(3);
    for (let n = 0; n < 3; n++)
      await new Promise<void>((resolve) => {
        const end = budgets.of("loud").takeTurn(() => {
          queueMicrotask(() => end?.());
          resolve();
        });
      });
  });

  it("counts refusals until a client that asks little is served", () => {
    const budgets = open();
    expect([1, 2, 3].map(() => budgets.of("a").refuse())).to.deep.equal([1, 2, 3]);
    budgets.of("a").takeTurn(() => {});
    expect(budgets.of("a").refuse()).to.equal(1);
    // An answer for a client that asks too much does not count.
    budgets.of("a").charge(9);
    budgets.of("a").takeTurn(() => {});
    expect(budgets.of("a").refuse()).to.equal(2);
  });

  it("counts each open stream once, until it is closed", () => {
    const budgets = open();
    const close = budgets.of("a").openStream();
    expect(budgets.of("a").openStream()).to.be.a("function");
    expect(budgets.of("a").openStream()).to.equal(undefined);
    expect(budgets.of("b").openStream()).to.be.a("function");
    close?.();
    close?.();
    expect(budgets.of("a").openStream()).to.be.a("function");
    expect(budgets.of("a").openStream()).to.equal(undefined);
  });

  it("delays a limited number of a client's refusals at the same time, each longer than the one before", () => {
    const budgets = open();
    const held = Array.from({ length: 1_025 }, () => budgets.of("a").holdBack());
    expect(held.map((it) => it !== undefined)).to.deep.equal([...Array(1_024).fill(true), false]);
    expect([held[0]?.ms, held[32]?.ms, held[1_023]?.ms]).to.deep.equal([1_000, 1_500, 16_984.375]);
    expect(budgets.of("b").holdBack()?.ms).to.equal(1_000);
    held[0]?.release();
    held[0]?.release();
    expect(budgets.of("a").holdBack()?.ms).to.equal(16_984.375);
    expect(budgets.of("a").holdBack()).to.equal(undefined);
  });

  it("allows twenty requests without a price in each second of a client", () => {
    const budgets = open();
    const most = () => Array.from({ length: 100 }, () => budgets.of("a").countFree()).filter(Boolean).length;
    expect(most()).to.equal(20);
    now += 0.5;
    expect(most()).to.equal(10);
    now += 60;
    expect(most()).to.equal(20);
    expect(budgets.of("b").countFree()).to.equal(true);
    now -= 60;
    expect(budgets.of("a").countFree()).to.equal(false);
  });

  it("tells how many points the client owes", () => {
    const budget = open().of("a");
    budget.charge(9);
    expect(budget.owed).to.equal(0);
    budget.charge(4);
    expect(budget.owed).to.equal(3);
    now += 1;
    expect(budget.owed).to.equal(1);
    expect(open({ pointsPerSecond: 0 }).of("a").owed).to.equal(0);
  });

  it("has no limit where the limit is 0", () => {
    const budget = open({ pointsPerSecond: 0, atOnce: 0, streams: 0 }).of("a");
    budget.charge(1e9);
    let begun = 0;
    for (let n = 0; n < 100; n++) {
      budget.takeTurn(() => begun++);
      expect(budget.openStream()).to.be.a("function");
    }
    expect(begun).to.equal(100);
    expect(budget.secondsToWait).to.equal(0);
  });

  it("forgets the clients that were silent longest if there are too many, but no client with open requests or streams", () => {
    const budgets = open();
    budgets.of("spent").charge(10);
    budgets.of("open").openStream();
    budgets.of("open").openStream();
    for (let n = 0; n < 1_000; n++) budgets.of(`stranger ${n}`);
    expect(budgets.of("open").openStream()).to.equal(undefined);
    expect(budgets.of("spent").secondsToWait).to.equal(0);
  });

  it("never runs more turns than allowed, in any order of requests", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 60 }), (steps) => {
        const budget = open({ atOnce: 3, waiting: 4 }).of("a");
        const open_: (() => void)[] = [];
        let running = 0;
        const began = new Set<number>();
        for (const [n, step] of steps.entries()) {
          if (step < 5) {
            const end = budget.takeTurn(() => {
              running++;
              began.add(n);
            });
            if (end !== undefined)
              open_.push(() => {
                if (began.has(n)) running--;
                end();
              });
          } else open_.splice(step % Math.max(1, open_.length), 1)[0]?.();
          expect(running).to.be.at.most(3);
          expect(open_.length).to.be.at.most(7);
        }
        for (const end of open_.splice(0)) end();
        expect(running).to.equal(0);
      }),
    );
  });
});
