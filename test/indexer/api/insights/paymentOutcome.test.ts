import { setImmediate } from "node:timers/promises";
import type { FacilitatorClient } from "@x402/core/server";
import { expect } from "chai";
import { Hono } from "hono";
import pg from "pg";
import { type PaymentChain, paymentChain } from "../../../../indexer/api/insights/paymentChain.ts";
import type { PaymentStore } from "../../../../indexer/api/insights/paymentStore.ts";
import { PAYMENT_MS } from "../../../../indexer/api/insights/payments.ts";
import { insightsPaywall } from "../../../../indexer/api/insights/paywall.ts";
import { type Operations, openOperations } from "../../../../indexer/operations.ts";
import { STILL_MS } from "../../../../packages/runtime/http/limitTime.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "../../../sdk/support/sdkChain.ts";
import { testDatabase } from "../../../support/testDatabase.ts";
import { payingFetch, paymentsInMemory } from "../../support/paidInsights.ts";

const PRICE = 10_000n;
const TRENDS = "http://node.example/v1/insights/trends";
const SERIES = "http://node.example/v1/insights/series";

/** A busy machine may need longer for its Postgres than a client waits. */
const LIMITS = { ...PAYMENT_MS, store: 60_000 };

describe("insights with a price, whose settlement has an unknown outcome", () => {
  let chain: SdkChain;
  let reader: Wallet;
  let operator: Wallet;
  let url: string;
  let pool: pg.Pool;
  /** The API processes, each with connections of its own. */
  let processes: Operations[];
  /** How many requests reached a route behind the paywall. */
  let served: number;

  before(async () => {
    [chain, url] = await Promise.all([startSdkChain(), testDatabase()]);
    pool = new pg.Pool({ connectionString: url });
    pool.on("error", () => {});
    // Nothing listens at the address of the last one.
    processes = [url, url, "postgres://127.0.0.1:9/none"].map((it) => openOperations(it, "main"));
  });
  after(async () => {
    await Promise.all([...(processes ?? []).map(({ close }) => close()), pool?.end(), chain?.close()]);
  });

  beforeEach(async () => {
    [reader, operator, served] = [newWallet(), newWallet(), 0];
    await chain.mint(reader, 1_000_000n);
  });

  /** A node that sells insights. Its facilitator settles on the chain, except for what `given` replaces. */
  function sell(given: {
    facilitator?: Partial<FacilitatorClient>;
    chain?: Partial<PaymentChain>;
    limits?: Partial<typeof PAYMENT_MS>;
    /** The process that sells. */
    at?: number;
    store?: PaymentStore;
  }) {
    const { name, version } = chain.network;
    const facilitator = { ...chain.facilitator, ...given.facilitator };
    const paywall = insightsPaywall(
      {
        ...{ amount: PRICE, payTo: operator.address, chainId: 31_337, facilitator },
        token: { address: chain.token, name, version },
        chain: { ...paymentChain(chain.client as never, chain.network), ...given.chain },
        store: given.store ?? (processes[given.at ?? 0] as Operations).payments,
      },
      { ...LIMITS, ...given.limits },
    );
    const app = new Hono().use("/v1/insights/*", paywall).get("/v1/insights/:what", (context) => {
      served++;
      return context.json({ what: context.req.param("what") });
    });
    return client(app);
  }

  /** A client that pays, and can send its last payment again. */
  function client(app: Hono) {
    let sent: Request | undefined;
    const pay = payingFetch(
      app,
      async (request) => {
        sent = request.clone() as Request;
      },
      reader.account,
    );
    const again = async (url = TRENDS, payment = sent?.headers.get("payment-signature") ?? "") =>
      await app.request(url, { headers: { "payment-signature": payment } });
    return { app, pay, again, payment: () => sent?.headers.get("payment-signature") ?? "" };
  }

  const paid = () => chain.balanceOf(operator);
  const lost = () => new TypeError("fetch failed", { cause: new Error("socket hang up") });

  async function expectUnknown(answer: Response): Promise<void> {
    expect(answer.status, await answer.clone().text()).to.equal(503);
    expect(Number(answer.headers.get("retry-after"))).to.be.above(0);
    expect(answer.headers.get("payment-response")).to.equal(null);
    expect(await answer.json()).to.include({ code: "outcome_unknown" });
  }

  it("are delivered if the facilitator's answer is lost, and the chain shows the payment", async () => {
    const { pay } = sell({
      facilitator: {
        settle: async (...given) => {
          await chain.facilitator.settle(...given);
          throw lost();
        },
      },
    });
    const answer = await pay(TRENDS);
    expect(answer.status, await answer.clone().text()).to.equal(200);
    expect(await answer.json()).to.deep.equal({ what: "trends" });
    expect(answer.headers.get("payment-response")).to.be.a("string");
    expect(await paid()).to.equal(PRICE);
  });

  for (const [how, failure] of [
    ["a lost connection", lost()],
    [
      "a status of 500",
      Object.assign(new Error("no"), { errorReason: "unexpected_settle_error", transaction: "" }),
    ],
  ] as const) {
    it(`are paid once if the facilitator did not settle at first, after ${how}`, async () => {
      let asked = 0;
      const { pay, again } = sell({
        facilitator: {
          settle: async (...given) => {
            if (++asked === 1) throw failure;
            return await chain.facilitator.settle(...given);
          },
        },
      });
      await expectUnknown(await pay(TRENDS));
      expect(await paid()).to.equal(0n);
      const second = await again();
      expect(second.status, await second.clone().text()).to.equal(200);
      expect(await paid()).to.equal(PRICE);
      // The client can miss this answer too.
      expect((await again()).status).to.equal(200);
      expect(asked).to.equal(2);
      expect(await paid()).to.equal(PRICE);
    });
  }

  it("are delivered to the same payment when the chain shows it later", async () => {
    let isShown = false;
    const asked: string[] = [];
    const onChain = paymentChain(chain.client as never, chain.network);
    const { pay, again } = sell({
      facilitator: {
        verify: async (...given) => {
          asked.push("verify");
          return await chain.facilitator.verify(...given);
        },
        settle: async (...given) => {
          asked.push("settle");
          await chain.facilitator.settle(...given);
          throw lost();
        },
      },
      chain: { find: async (payment) => (isShown ? await onChain.find(payment) : undefined) },
    });
    await expectUnknown(await pay(TRENDS));
    isShown = true;
    expect((await again()).status).to.equal(200);
    expect(asked).to.deep.equal(["verify", "settle"]);
    expect(await paid()).to.equal(PRICE);
  });

  it("do not wait for a silent facilitator, and its late answer counts", async () => {
    const late = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    let settles = 0;
    const { pay, again } = sell({
      facilitator: {
        settle: async (...given) => {
          settles++;
          await late.promise;
          const answer = await chain.facilitator.settle(...given);
          globalThis.setImmediate(settled.resolve);
          return answer;
        },
      },
      limits: { settle: 1 },
      // Nothing but the late answer tells that the payment was settled.
      chain: { find: async () => undefined },
      store: paymentsInMemory(),
    });
    await expectUnknown(await pay(TRENDS));
    late.resolve();
    await settled.promise;
    expect((await again()).status).to.equal(200);
    expect([settles, await paid()]).to.deep.equal([1, PRICE]);
  });

  it("are refused with 402 if the facilitator did not send the payment", async () => {
    const { pay } = sell({
      facilitator: {
        settle: async (_payload, { network }) => ({
          ...{ success: false, errorReason: "insufficient_funds", transaction: "", network },
        }),
      },
    });
    expect((await pay(TRENDS)).status).to.equal(402);
  });

  it("are not refused by a later attempt while the first one has perhaps paid, and the chain does not show it", async () => {
    let asked = 0;
    const { pay, again } = sell({
      facilitator: {
        settle: async (payload, requirements) => {
          const { network } = requirements;
          if (++asked > 1)
            return { success: false, errorReason: "insufficient_funds", transaction: "", network };
          await chain.facilitator.settle(payload, requirements);
          throw lost();
        },
      },
      chain: { find: async () => undefined },
    });
    for (const answer of [await pay(TRENDS), await again()]) await expectUnknown(answer);
    expect([asked, await paid()]).to.deep.equal([2, PRICE]);
  });

  it("are delivered if the facilitator refuses a payment and names its transaction, because it sent it", async () => {
    const { pay } = sell({
      facilitator: {
        settle: async (...given) => {
          const { transaction, network } = await chain.facilitator.settle(...given);
          return { success: false, errorReason: "insufficient_funds", transaction, network };
        },
      },
    });
    const answer = await pay(TRENDS);
    expect(answer.status, await answer.clone().text()).to.equal(200);
    expect(await paid()).to.equal(PRICE);
  });

  it("are delivered for one request only, and a few times", async () => {
    const { pay, again, app, payment } = sell({});
    expect((await pay(TRENDS)).status).to.equal(200);
    const other = await again(SERIES);
    expect(other.status).to.equal(402);
    // The same authorization in other words: everybody can read it on the chain.
    const words = JSON.parse(Buffer.from(payment(), "base64").toString());
    const respelled = Buffer.from(JSON.stringify({ ...words, note: 1 })).toString("base64");
    expect(respelled).not.to.equal(payment());
    expect((await again(TRENDS, respelled)).status).to.equal(402);
    const answers: number[] = [];
    for (let n = 0; n < 6; n++) answers.push((await again()).status);
    expect(answers).to.deep.equal([200, 200, 200, 200, 402, 402]);
    expect((await app.request(TRENDS)).status).to.equal(402);
    expect(served, "no work for a payment that is used up").to.equal(5);
    expect(await paid()).to.equal(PRICE);
  });

  it("are delivered a few times when one payment is sent many times at once", async () => {
    const release = Promise.withResolvers<void>();
    const { pay, again, payment } = sell({
      facilitator: {
        settle: async (...given) => {
          await release.promise;
          return await chain.facilitator.settle(...given);
        },
      },
    });
    const first = pay(TRENDS);
    while (payment() === "") await setImmediate();
    const others = Array.from({ length: 7 }, () => again());
    release.resolve();
    const statuses = (await Promise.all([first, ...others])).map(({ status }) => status);
    expect(statuses.sort()).to.deep.equal([200, 200, 200, 200, 200, 402, 402, 402]);
    expect(await paid()).to.equal(PRICE);
  });

  it("are delivered once when one payment is sent to two routes at the same time", async () => {
    const both = Promise.withResolvers<void>();
    let verified = 0;
    const { pay, again, payment } = sell({
      facilitator: {
        verify: async (...given) => {
          const answer = await chain.facilitator.verify(...given);
          if (++verified === 2) both.resolve();
          await both.promise;
          return answer;
        },
      },
    });
    const first = pay(TRENDS);
    while (payment() === "") await setImmediate();
    const statuses = [(await again(SERIES)).status, (await first).status];
    expect(statuses.sort()).to.deep.equal([200, 402]);
    expect(await paid()).to.equal(PRICE);
  });

  it("are not delivered for a payment that was used before this node heard of it", async () => {
    const first = sell({});
    expect((await first.pay(TRENDS)).status).to.equal(200);
    // The database lost the payment, and the facilitator checks nothing and loses its answers.
    await pool.query("DELETE FROM ops.insights_payments");
    const second = sell({
      facilitator: {
        verify: async () => ({ isValid: true }),
        settle: async () => {
          throw lost();
        },
      },
    });
    expect((await second.again(TRENDS, first.payment())).status).to.equal(402);
    // Without the chain, nobody can tell this payment from an earlier one.
    const third = sell({
      facilitator: {
        verify: async () => ({ isValid: true }),
        settle: async () => {
          throw lost();
        },
      },
      chain: { isUsed: async () => Promise.reject(lost()) },
    });
    await expectUnknown(await third.again(TRENDS, first.payment()));
  });

  it("forget payments after an hour", async () => {
    const { pay, again } = sell({});
    expect((await pay(TRENDS)).status).to.equal(200);
    expect((await again()).status).to.equal(200);
    await pool.query("UPDATE ops.insights_payments SET since = since - interval '1 hour'");
    expect((await again()).status).to.equal(402);
    // The next payment removes the row, after a time in which no request with the old one is under way any more.
    await pool.query("UPDATE ops.insights_payments SET since = since - interval '5 minutes'");
    expect((await pay(TRENDS)).status).to.equal(200);
    const { rows } = await pool.query("SELECT count(*)::int AS kept FROM ops.insights_payments");
    expect(rows).to.deep.equal([{ kept: 1 }]);
  });

  it("are delivered for a payment whose hour ends while it is sent again", async () => {
    const { payments } = processes[0] as Operations;
    const store: PaymentStore = {
      ...payments,
      read: async (key) => {
        const kept = await payments.read(key);
        await pool.query("UPDATE ops.insights_payments SET since = since - interval '1 hour'");
        return kept;
      },
    };
    const { pay, again } = sell({ store });
    expect((await pay(TRENDS)).status).to.equal(200);
    const second = await again();
    expect(second.status, await second.clone().text()).to.equal(200);
    expect(await paid()).to.equal(PRICE);
  });

  it("are delivered by any process for one payment, and a few times by all together", async () => {
    const [first, second] = [sell({ at: 0 }), sell({ at: 1 })];
    expect((await first.pay(TRENDS)).status).to.equal(200);
    const sent = first.payment();
    expect((await second.again(SERIES, sent)).status).to.equal(402);
    const answers: number[] = [];
    for (const { again } of [second, first, second, second, first, second])
      answers.push((await again(TRENDS, sent)).status);
    expect(answers).to.deep.equal([200, 200, 200, 200, 402, 402]);
    expect(await paid()).to.equal(PRICE);
  });

  it("are delivered once for one payment that is sent to two processes for two routes at the same time", async () => {
    const both = Promise.withResolvers<void>();
    let verified = 0;
    const verify: FacilitatorClient["verify"] = async (...given) => {
      const answer = await chain.facilitator.verify(...given);
      if (++verified === 2) both.resolve();
      await both.promise;
      return answer;
    };
    const [here, there] = [
      sell({ at: 0, facilitator: { verify } }),
      sell({ at: 1, facilitator: { verify } }),
    ];
    const first = here.pay(TRENDS);
    while (here.payment() === "") await setImmediate();
    const statuses = [(await there.again(SERIES, here.payment())).status, (await first).status];
    expect(statuses.sort()).to.deep.equal([200, 402]);
    expect(await paid()).to.equal(PRICE);
  });

  for (const [when, act] of [
    ["between the settlement and its word of it", async (settle: () => Promise<unknown>) => await settle()],
    ["before it settled", async () => {}],
  ] as const) {
    it(`are paid once, and delivered by another process, if the first one is killed ${when}`, async () => {
      const silent = Promise.withResolvers<never>();
      const dead = Promise.withResolvers<void>();
      const killed = sell({
        at: 0,
        facilitator: {
          settle: async (...given) => {
            await act(() => chain.facilitator.settle(...given));
            dead.resolve();
            return await silent.promise;
          },
        },
      });
      const unanswered = killed.pay(TRENDS);
      try {
        await dead.promise;
        const answer = await sell({ at: 1 }).again(TRENDS, killed.payment());
        expect(answer.status, await answer.clone().text()).to.equal(200);
        expect(await answer.json()).to.deep.equal({ what: "trends" });
        expect(await paid()).to.equal(PRICE);
      } finally {
        silent.reject(lost());
        await unanswered;
      }
    });
  }

  it("are delivered if another process settles the payment while this one verifies it", async () => {
    const verifying = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    const [here, there] = [
      sell({ at: 0 }),
      sell({
        at: 1,
        facilitator: {
          verify: async (...given) => {
            verifying.resolve();
            await settled.promise;
            return await chain.facilitator.verify(...given);
          },
        },
      }),
    ];
    const first = there.pay(TRENDS);
    await verifying.promise;
    expect((await here.again(TRENDS, there.payment())).status).to.equal(200);
    settled.resolve();
    expect((await first).status).to.equal(200);
    expect(await paid()).to.equal(PRICE);
  });

  it("settle nothing, and say so, while the store of payments does not answer", async () => {
    const { pay, again } = sell({ at: 2 });
    await expectUnknown(await pay(TRENDS));
    await expectUnknown(await again());
    expect(await paid()).to.equal(0n);
  });

  it("answer before the server closes a silent connection", () => {
    const { verify, settle, look, store } = PAYMENT_MS;
    // The rest is for reading the answer. Another process may begin to settle while this one verifies.
    const longest = 2 * store + verify + store + look + settle + look + store;
    expect(longest).to.be.at.most(STILL_MS - 10_000);
  });
});
