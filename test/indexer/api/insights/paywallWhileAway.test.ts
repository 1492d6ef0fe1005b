import { expect } from "chai";
import { Hono } from "hono";
import { beforePayment, refuseWhileAway } from "../../../../indexer/api/databaseAway.ts";
import { emptyDatabase, facilitatorWith, payingFetch, sellInsights } from "../../support/paidInsights.ts";

describe("insights with a price, whose database goes away during a request", () => {
  /** Every read waits for it. */
  let mayRead: Promise<void>;
  let unlock: () => void;

  beforeEach(() => {
    mayRead = Promise.resolve();
  });

  /** Stops all reads of the database. */
  const lock = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    [mayRead, unlock] = [promise, resolve];
  };

  const db = emptyDatabase(() => mayRead);

  /** A paid question. `given` is called before its parts. `ended` waits until the node has ended all work for it. */
  function ask(given: {
    beforePaid?: () => Promise<unknown>;
    verify?: () => Promise<unknown>;
    settle?: () => Promise<unknown>;
  }) {
    const away = Promise.withResolvers<true>();
    const work: Promise<unknown>[] = [];
    const facilitator = facilitatorWith(given);
    const app = sellInsights(facilitator, {
      db,
      watch: {
        isAway: false,
        goesAwayDuring: (it) => {
          work.push(it);
          return Promise.race([away.promise, it.then(() => false)]);
        },
      },
    });
    const pay = payingFetch(app, async () => await given.beforePaid?.());
    return {
      answer: pay("http://node.example/v1/insights/capabilities"),
      goAway: () => away.resolve(true),
      paid: facilitator.asked,
      ended: () => Promise.allSettled(work),
    };
  }

  it("are answered if the payment settles meanwhile", async () => {
    const settling = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    const { answer, goAway, paid } = ask({
      settle: async () => {
        settling.resolve();
        await settled.promise;
      },
    });
    await settling.promise;
    goAway();
    const early = await Promise.race([answer, new Promise((resolve) => setImmediate(resolve, "waits"))]);
    expect(early).to.equal("waits");
    settled.resolve();
    expect(await (await answer).json()).to.deep.equal({ capabilities: [], next_cursor: null });
    expect(paid).to.deep.equal(["verify", "settle"]);
  });

  it("are answered if the database goes away at the moment in which the payment begins", async () => {
    const goesAwayDuring = async (work: Promise<unknown>) => {
      await work;
      return true;
    };
    const settled = Promise.withResolvers<void>();
    const app = new Hono()
      .use(refuseWhileAway({ isAway: false, goesAwayDuring }))
      .get("/", beforePayment(), async (context) => {
        await settled.promise;
        return context.text("paid");
      });
    const answer = app.request("/");
    await new Promise(setImmediate);
    settled.resolve();
    expect(await (await answer).text()).to.equal("paid");
  });

  it("cost nothing if the database goes away before they are answered", async () => {
    const { answer, goAway, paid, ended } = ask({
      verify: async () => {
        lock();
        goAway();
      },
    });
    try {
      const { status, headers } = await answer;
      expect(status).to.equal(503);
      expect(Number(headers.get("retry-after"))).to.be.above(0);
    } finally {
      unlock();
    }
    await ended();
    expect(paid).to.deep.equal(["verify"]);
  });

  it("begin no payment after the request was refused", async () => {
    const { answer, goAway, paid, ended } = ask({
      beforePaid: async () => {
        lock();
        goAway();
      },
    });
    try {
      expect((await answer).status).to.equal(503);
    } finally {
      unlock();
    }
    await ended();
    expect(paid).to.deep.equal([]);
  });
});
