import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { createSeller } from "tallystick-sdk/createSeller";
import { adoptStore } from "tallystick-sdk/seller/adoptStore";
import { createJobLeases, LeaseLostError } from "tallystick-sdk/store/jobLeases";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { MEAN, mean } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { between, isPaid, rejection } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 120_000 };
const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 60_000 };

describe("the store of a seller", () => {
  const { chain, market } = useMarket();

  it("keeps the data of two sellers apart: no seller sees, works on or signs the other seller's jobs", async () => {
    const store = memoryStore();
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const offered = { listings: [LISTING], store, leaseMs: 200 };
    const first = await market.openSeller({
      ...offered,
      handlers: {
        [MEAN]: async (params) => {
          started.resolve();
          await go.promise;
          return mean(params);
        },
      },
    });
    let worked = 0;
    const second = await market.openSeller({
      ...offered,
      handlers: {
        [MEAN]: () => {
          worked++;
          return { result: 3 };
        },
      },
    });
    const buyer = await market.openBuyer();
    const hiring = buyer.hire({ ...ORDER, seller: first.address });
    await started.promise;
    const [, jobId = ""] = ((await store.keys("job"))[0] ?? "").split(".");
    // The second seller resumes unfinished jobs, now and in each of its rounds.
    await second.resume();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(worked).to.equal(0);
    expect((await second.app.request(`/jobs/${jobId}`)).status).to.equal(404);
    expect((await first.app.request(`/jobs/${jobId}`)).status).to.equal(200);
    go.resolve();
    const hired = await hiring;
    expect(hired.receiptIssues).to.deep.equal([]);
    expect(hired.receipt).to.include({ seller_id: first.address });
    expect(await chain.balanceOf(first.wallet)).to.equal(PRICE);
    expect(await chain.balanceOf(second.wallet)).to.equal(0n);
  });

  it("lets a payment pay for only one job of all sellers that have one payee and share the store", async () => {
    const store = memoryStore();
    const payee = newWallet();
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let worked = 0;
    const offered = {
      ...{ listings: [{ ...LISTING, payee: payee.address }], store },
      handlers: {
        [MEAN]: async (params: { [key: string]: unknown }) => {
          worked++;
          started.resolve();
          await go.promise;
          return mean(params);
        },
      },
    };
    const first = await market.openSeller(offered);
    const second = await market.openSeller(offered);
    let payment = "";
    let asked: { [field: string]: unknown } = {};
    market.hosts[first.host] = {
      request: (input, init) => {
        payment = new Headers(init?.headers).get("PAYMENT-SIGNATURE") ?? payment;
        if (init?.body) asked = JSON.parse(String(init.body));
        return first.direct.request(input, init);
      },
    };
    const buyer = await market.openBuyer();
    const hiring = buyer.hire({ ...ORDER, seller: first.address });
    await started.promise;
    const { signature: _, ...request } = { ...asked, seller_id: second.address } as {
      [field: string]: unknown;
    };
    const signed = await signHireRequest(request as never, { account: buyer.wallet.account });
    const answer = await second.app.request("/hire", {
      ...{ method: "POST", body: JSON.stringify(signed) },
      headers: { "content-type": "application/json", "PAYMENT-SIGNATURE": payment },
    });
    expect([answer.status, (await answer.json()).code]).to.deep.equal([402, "payment_replayed"]);
    go.resolve();
    expect((await hiring).money).to.equal("paid");
    expect([worked, await chain.balanceOf(payee)]).to.deep.equal([1, PRICE]);
  });

  it("lets only one of two processes of the seller work on a job", async () => {
    const store = memoryStore();
    let worked = 0;
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    // This clock stands still while the machine stops this process. So a lease expires only if it is not renewed.
    let time = Date.now();
    const clock = setInterval(() => {
      time += 20;
    }, 20).unref();
    const seller = await market.openSeller({
      listings: [LISTING],
      store,
      leaseMs: 300,
      now: () => time,
      handlers: {
        [MEAN]: async (params) => {
          worked++;
          started.resolve();
          await go.promise;
          return mean(params);
        },
      },
    });
    const other = await createSeller(seller.parameters);
    const buyer = await market.openBuyer();
    const hiring = buyer.hire(ORDER);
    await started.promise;
    await other.resume();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(worked).to.equal(1);
    go.resolve();
    expect((await hiring).money).to.equal("paid");
    expect(await store.keys("lease")).to.deep.equal([]);
    await other.close();
    clearInterval(clock);
  });

  it("is checked again without a request if a payment is uncertain, so that the job ends", async () => {
    const { facilitator } = chain;
    let isAway = true;
    const seller = await market.openSeller({
      listings: [LISTING],
      leaseMs: 200,
      facilitator: {
        ...facilitator,
        settle: async (...it) => {
          if (isAway) throw new Error("connect ECONNREFUSED");
          return await facilitator.settle(...it);
        },
      },
      handlers: { [MEAN]: mean },
    });
    await seller.resume();
    const buyer = await market.openBuyer();
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init);
      if (isPaid(init)) isAway = false;
      return response;
    });
    const hired = await buyer.hire(ORDER);
    expect(hired.money).to.equal("paid");
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
  });

  it("of an earlier version, whose entries name no seller, is refused, and adopted on request", async () => {
    const store = memoryStore();
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean }, store });
    const buyer = await market.openBuyer();
    const request: RequestInit[] = [];
    between(market, seller, (ask, input, init) => {
      if (isPaid(init)) request.push(init as RequestInit);
      return ask(input, init);
    });
    const { jobId } = await buyer.hire(ORDER);
    await seller.close();
    // The store of an earlier version has the same entries, without the seller in their keys.
    const before = memoryStore();
    for (const folder of ["job", "payment", "seen"]) {
      for (const key of await store.keys(folder)) {
        await before.put(key.replace(/\/[0-9a-f]{24}\./, "/"), await store.get(key));
      }
    }
    await before.put("callback/job_1", true);
    const parameters = { ...seller.parameters, store: before };
    const refused = await rejection(createSeller(parameters));
    expect(refused).to.include({ code: "store_of_before" });
    expect(refused.hint).to.contain("adoptStore");

    const other = await rejection(adoptStore({ store: before, seller: buyer.address }));
    expect(other).to.include({ code: "store_of_another" });
    expect(await before.keys("callback")).to.deep.equal(["callback/job_1"]);
    // The adoption ends in the middle, and is then repeated.
    let left = 2;
    const mortal = {
      ...before,
      delete: async (key: string) => {
        if (left-- === 0) throw new Error("the process has ended");
        await before.delete(key);
      },
    };
    expect((await rejection(adoptStore({ store: mortal, seller: seller.address }))).message).to.contain(
      "ended",
    );
    expect(await rejection(createSeller(parameters))).to.include({ code: "store_of_before" });
    expect(await adoptStore({ store: before, seller: seller.wallet.account.address })).to.equal(2);
    expect(await adoptStore({ store: before, seller: seller.address })).to.equal(0);

    const adopted = await createSeller(parameters);
    expect((await adopted.app.request(`/jobs/${jobId}`)).status).to.equal(200);
    // The earlier payment and its nonce are already used.
    const again = await adopted.app.request("/hire", request[0]);
    expect([again.status, ((await again.json()) as { code: string }).code]).to.deep.equal([
      409,
      "duplicate_nonce",
    ]);
    await adopted.close();
  });
});

describe("the lease of a job", () => {
  it("belongs to one process until it expires, and is lost by a process that slept too long", async () => {
    const store = memoryStore();
    let now = 1_000_000;
    const leases = createJobLeases({ store, leaseMs: 60_000, now: () => now });
    const first = await leases.take("job_A");
    expect(await leases.take("job_A")).to.equal(undefined);
    await first?.requireHeld();
    now += 60_001;
    const taken = await Promise.all([1, 2, 3].map(() => leases.take("job_A")));
    const [second] = taken.filter((it) => it !== undefined);
    expect(taken.filter((it) => it !== undefined)).to.have.length(1);
    expect(await rejection(first?.requireHeld() ?? Promise.resolve())).to.be.instanceOf(LeaseLostError);
    await second?.requireHeld();
    expect(await leases.open()).to.deep.equal(["job_A"]);
    await second?.pause(500);
    expect(await leases.take("job_A")).to.equal(undefined);
    now += 501;
    await (await leases.take("job_A"))?.end();
    expect(await leases.open()).to.deep.equal([]);
  });

  it("is free at once if a wrong clock gave it a far date", async () => {
    const store = memoryStore();
    const now = 1_000_000;
    const wrong = createJobLeases({ store, leaseMs: 60_000, now: () => now + 365 * 86_400_000 });
    const first = await wrong.take("job_A");
    const leases = createJobLeases({ store, leaseMs: 60_000, now: () => now });
    const taken = await leases.take("job_A");
    await taken?.requireHeld();
    expect(await rejection(first?.requireHeld() ?? Promise.resolve())).to.be.instanceOf(LeaseLostError);
    await taken?.end();
    expect(await leases.open()).to.deep.equal([]);
  });

  it("stays lost even if the process that took the job over has ended the job", async () => {
    const store = memoryStore();
    let now = 1_000_000;
    const leases = createJobLeases({ store, leaseMs: 60, now: () => now });
    const first = await leases.take("job_A");
    now += 61;
    await (await leases.take("job_A"))?.end();
    // The first process wakes up, and tries to renew its lease.
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(await rejection(first?.requireHeld() ?? Promise.resolve())).to.be.instanceOf(LeaseLostError);
    expect(await leases.open()).to.deep.equal([]);
  });
});
