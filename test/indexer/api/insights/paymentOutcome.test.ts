import { setImmediate } from "node:timers/promises";
import type { FacilitatorClient } from "@x402/core/server";
import { expect } from "chai";
import { Hono } from "hono";
import { type PaymentChain, paymentChain } from "../../../../indexer/api/insights/paymentChain.ts";
import { PAYMENT_MS } from "../../../../indexer/api/insights/payments.ts";
import { insightsPaywall } from "../../../../indexer/api/insights/paywall.ts";
import { STILL_MS } from "../../../../packages/runtime/http/limitTime.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "../../../sdk/support/sdkChain.ts";
import { payingFetch } from "../../support/paidInsights.ts";

const PRICE = 10_000n;
const TRENDS = "http://node.example/v1/insights/trends";
const SERIES = "http://node.example/v1/insights/series";

describe("insights with a price, whose settlement has an unknown outcome", () => {
  let chain: SdkChain;
  let reader: Wallet;
  let operator: Wallet;

  before(async () => {
    chain = await startSdkChain();
  });
  after(() => chain.close());

  beforeEach(async () => {
    [reader, operator] = [newWallet(), newWallet()];
    await chain.mint(reader, 1_000_000n);
  });

  /** A node that sells insights. Its facilitator settles on the chain, except for what `given` replaces. */
  function sell(given: {
    facilitator?: Partial<FacilitatorClient>;
    chain?: Partial<PaymentChain>;
    options?: Parameters<typeof insightsPaywall>[1];
  }) {
    const { name, version } = chain.network;
    const facilitator = { ...chain.facilitator, ...given.facilitator };
    const paywall = insightsPaywall(
      {
        ...{ amount: PRICE, payTo: operator.address, chainId: 31_337, facilitator },
        token: { address: chain.token, name, version },
        chain: { ...paymentChain(chain.client as never, chain.network), ...given.chain },
      },
      given.options,
    );
    const app = new Hono()
      .use("/v1/insights/*", paywall)
      .get("/v1/insights/:what", (context) => context.json({ what: context.req.param("what") }));
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
      options: { limits: { ...PAYMENT_MS, settle: 1 } },
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
    // After a restart, with a facilitator that looks at nothing and loses its answers.
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
    let now = 0;
    const { pay, again } = sell({ options: { now: () => now } });
    expect((await pay(TRENDS)).status).to.equal(200);
    expect((await again()).status).to.equal(200);
    now = 3_600_000;
    expect((await again()).status).to.equal(402);
  });

  it("answer before the server closes a silent connection", () => {
    const { verify, settle, look } = PAYMENT_MS;
    // The rest is for reading the answer. A payment that is sent again is not verified, and looked up twice.
    expect(Math.max(verify, look) + settle + look).to.be.at.most(STILL_MS - 10_000);
  });
});
