import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { createSeller } from "tallystick-sdk/createSeller";
import { readCallback } from "tallystick-sdk/readCallback";
import { requestService } from "tallystick-sdk/requestService";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { type Market, MEAN, mean, openMarket, PURSE } from "./support/market.ts";
import { newWallet, type SdkChain, startSdkChain } from "./support/sdkChain.ts";
import { between, isPaid, killable, rejection } from "./support/tamper.ts";

const ORDER = {
  capability: MEAN,
  params: { data: [1, 2, 6] },
  maxPriceUsdc: "0.10",
  maxLatencyMs: 120_000,
  callbackUrl: "http://buyer.test/done",
};
const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 60_000 };

describe("an asynchronous hire", () => {
  let chain: SdkChain;
  let market: Market;
  /** The messages that the buyer's callback has received. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of every shape
  let calls: any[];
  let answerCallback: () => Response;
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
  });
  after(() => chain.close());
  beforeEach(async () => {
    market = await openMarket(chain);
    calls = [];
    answerCallback = () => new Response("ok");
    market.hosts["buyer.test"] = {
      request: (_, init) => {
        calls.push(JSON.parse(String(init?.body)));
        return answerCallback();
      },
    };
  });
  afterEach(() => market.close());

  const until = async (look: () => boolean) => {
    while (!look()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const scene = async (handler = async (params: { [key: string]: unknown }) => mean(params)) => {
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: handler } });
    return { seller, buyer: await market.openBuyer() };
  };

  it("gets a 202 answer with the job's id; its result can be polled, and is posted with the seller's signature", async () => {
    const polled = Promise.withResolvers<void>();
    const { seller, buyer } = await scene(async (params) => {
      await polled.promise;
      return mean(params);
    });
    const answers: [number, unknown][] = [];
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init);
      const body = await response.clone().json();
      answers.push([response.status, body]);
      if (Object(body).status === "working") polled.resolve();
      return response;
    });
    const hire = await buyer.hire(ORDER);
    expect(hire).to.include({ money: "paid" });
    expect(hire.result).to.deep.equal({ result: 3 });
    const accepted = answers.find(([status]) => status === 202);
    expect(accepted?.[1]).to.deep.equal({
      protocol: "swarmwage/v0.3",
      job_id: hire.jobId,
      estimated_completion_ms: LISTING.max_latency_ms,
    });
    expect(answers.some(([, body]) => Object(body).status === "working")).to.equal(true);

    await until(() => calls.length > 0);
    const callback = readCallback(calls[0], seller.address);
    expect(callback).to.include({ job_id: hire.jobId, status: "completed" });
    expect(callback).to.have.nested.property("answer.receipt.tx_hash", hire.tx);
    const forged = { ...calls[0], result: { result: 4 } };
    expect(() => readCallback(forged, seller.address)).to.throw("signature");
    expect(() => readCallback(calls[0], newWallet().address)).to.throw("signature");
    expect(() => readCallback({ status: "completed" }, seller.address)).to.throw("job_id");
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
  });

  it("is reported as failed to the callback too, and costs nothing if the work fails", async () => {
    const { seller, buyer } = await scene(() => {
      throw new Error("no");
    });
    expect((await rejection(buyer.hire(ORDER))).words.code).to.equal("handler_failed");
    await until(() => calls.length > 0);
    expect(readCallback(calls[0], seller.address)).to.deep.include({
      status: "failed",
      error: { code: "handler_failed", message: "The work failed." },
    });
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
  });

  it("does not tell the buyer which service of the seller could not be reached", async () => {
    const baseUrl = "http://db7.internal:8080";
    const { buyer } = await scene(async () => {
      const away = () => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.7:8080"));
      return JSON.parse((await requestService({ baseUrl, path: "/", fetch: away })).text);
    });
    const { words } = await rejection(buyer.hire(ORDER));
    expect(words.code).to.equal("handler_failed");
    expect(JSON.stringify(words)).to.not.match(/internal|10\.0/);
    await until(() => calls.length > 0);
    expect(calls[0].error).to.deep.equal({ code: "handler_failed", message: "The work failed." });
  });

  it("costs nothing if its result has a number that JSON turns into null", async () => {
    const { buyer } = await scene(() => ({ result: Number.NaN }) as never);
    expect((await rejection(buyer.hire(ORDER))).words.code).to.equal("invalid_input");
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
  });

  it("is charged once if its request is repeated", async () => {
    const { seller, buyer } = await scene();
    let again: Promise<Response> | undefined;
    between(market, seller, (ask, input, init) => {
      if (isPaid(init)) again ??= Promise.resolve(ask(input, init));
      return ask(input, init);
    });
    const hire = await buyer.hire(ORDER);
    expect(hire.money).to.equal("paid");
    expect([202, 409]).to.include((await again!).status);
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
  });

  it("is continued by the next process if the first process is killed, and posted until the callback accepts it", async () => {
    const process = killable(fileStore(`${market.folder}/async`));
    let started = false;
    const seller = await market.openSeller({
      listings: [LISTING],
      store: process.store,
      leaseMs: 300,
      handlers: {
        [MEAN]: () => {
          started = true;
          return new Promise(() => {});
        },
      },
    });
    const first = market.hosts[seller.host];
    market.hosts[seller.host] = {
      request: (input, init) => process.connection(first?.request(input, init) ?? Response.error()),
    };
    const buyer = await market.openBuyer();
    const hiring = buyer.hire(ORDER);
    await until(() => started);
    process.kill();
    let refusals = 1;
    answerCallback = () => (refusals-- > 0 ? new Response("later", { status: 503 }) : new Response("ok"));
    const store = fileStore(`${market.folder}/async`);
    const next = await createSeller({ ...seller.parameters, store, handlers: { [MEAN]: mean } });
    market.hosts[seller.host] = {
      request: (input, init) => next.app.request(input.replace("/v1", ""), init),
    };
    await next.resume();
    const hire = await hiring;
    expect(hire.result).to.deep.equal({ result: 3 });
    await until(() => calls.length === 2);
    expect(calls[1].job_id).to.equal(hire.jobId);
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
    await next.close();
  });

  it("is posted once by the next process if the first process is killed after the job's end and before the post", async () => {
    const process = killable(fileStore(`${market.folder}/lost`));
    const seller = await market.openSeller({
      listings: [LISTING],
      store: {
        ...process.store,
        put: async (key, value) => {
          await process.store.put(key, value);
          if (key.includes("job/") && Object(value).stage === "completed") process.kill();
        },
      },
      handlers: { [MEAN]: mean },
    });
    const first = market.hosts[seller.host];
    market.hosts[seller.host] = {
      request: (input, init) => process.connection(first?.request(input, init) ?? Response.error()),
    };
    const buyer = await market.openBuyer();
    const hiring = buyer.hire(ORDER);
    const store = fileStore(`${market.folder}/lost`);
    const isOver = async () => {
      const [key] = await store.keys("job");
      return key !== undefined && (await store.get<{ stage: string }>(key))?.stage === "completed";
    };
    while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(calls).to.deep.equal([]);
    const next = await createSeller({ ...seller.parameters, store });
    market.hosts[seller.host] = {
      request: (input, init) => next.app.request(input.replace("/v1", ""), init),
    };
    await next.resume();
    const hire = await hiring;
    await until(() => calls.length > 0);
    expect(calls[0]).to.include({ job_id: hire.jobId, status: "completed" });
    await next.resume();
    await next.close();
    expect(calls).to.have.length(1);
    expect(await store.keys("callback")).to.deep.equal([]);
  });

  it("has a receipt by the listing that was paid, also if the seller offers something else when it goes on", async () => {
    for (const [at, listings] of [[{ ...LISTING, payee: newWallet().address }], []].entries()) {
      const disk = memoryStore();
      const process = killable(disk);
      const seller = await market.openSeller({
        listings: [LISTING],
        store: {
          ...process.store,
          put: async (key, value) => {
            await process.store.put(key, value);
            if (key.includes("job/") && Object(value).stage === "collected") process.kill();
          },
        },
        handlers: { [MEAN]: mean },
      });
      const first = market.hosts[seller.host];
      const killed = Promise.withResolvers<void>();
      market.hosts[seller.host] = {
        request: async (input, init) => {
          if (isPaid(init)) killed.resolve();
          return await process.connection(first?.request(input, init) ?? Response.error());
        },
      };
      const buyer = await market.openBuyer();
      const hiring = buyer.hire(ORDER);
      await killed.promise;
      const stage = async () => {
        const [key] = await disk.keys("job");
        return key && (await disk.get<{ stage: string }>(key))?.stage;
      };
      while ((await stage()) !== "collected") await new Promise((resolve) => setTimeout(resolve, 10));
      const next = await createSeller({ ...seller.parameters, listings, store: disk });
      market.hosts[seller.host] = {
        request: (input, init) => next.app.request(input.replace("/v1", ""), init),
      };
      await next.resume();
      const hire = await hiring;
      expect(hire, String(at)).to.include({ money: "paid" });
      expect(hire.receiptIssues, String(at)).to.deep.equal([]);
      expect(hire.receiptHash, String(at)).to.be.a("string");
      await next.close();
      market.offers.length = 0;
    }
  });

  it("waits while the disk is full, and continues when the disk has space; the process does not end", async () => {
    const disk = memoryStore();
    let isFull = false;
    let runs = 0;
    const stopped = Promise.withResolvers<void>();
    const onDisk = <Arguments extends unknown[], Result>(
      write: (...args: Arguments) => Promise<Result>,
    ): ((...args: Arguments) => Promise<Result>) => {
      return async (...args) => {
        if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
        return await write(...args);
      };
    };
    const seller = await market.openSeller({
      listings: [LISTING],
      store: { ...disk, put: onDisk(disk.put), putNew: onDisk(disk.putNew) },
      leaseMs: 100,
      handlers: {
        [MEAN]: async (params) => {
          isFull = runs++ === 0;
          return mean(params);
        },
      },
      log: (sentence) => {
        if (sentence === "A job could not go on.") stopped.resolve();
      },
    });
    await seller.resume();
    const buyer = await market.openBuyer();
    const hiring = buyer.hire(ORDER);
    await stopped.promise;
    await new Promise((resolve) => setTimeout(resolve, 150));
    isFull = false;
    expect(await hiring).to.include({ money: "paid" });
    await until(() => calls.length > 0);
    expect(runs).to.equal(2);
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
  });

  it("cannot make the seller call an address in the seller's own network", async () => {
    const { buyer } = await scene();
    market.offers.length = 0;
    await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean }, devMode: false });
    for (const callbackUrl of [
      "http://buyer.example/",
      "https://127.0.0.1/",
      "https://db.internal/",
      "https://[::1]/",
    ]) {
      const error = await rejection(buyer.hire({ ...ORDER, callbackUrl }));
      expect(error.words.code, callbackUrl).to.equal("private_address");
      expect(error.money).to.equal("none");
    }
  });
});
