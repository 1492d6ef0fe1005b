import { expect } from "chai";
import type { BuyerContext } from "tallystick-sdk/buyer/buyerContext";
import { hireByKey } from "tallystick-sdk/buyer/hireByKey";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import type { KeyedOrder } from "tallystick-sdk/buyer/hiring";
import { KEPT_MS, keptHires, MAX_KEPT } from "tallystick-sdk/buyer/keptHires";
import { HireFailedError, type MoneyState } from "tallystick-sdk/errors";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const WANTED = { capability: "custom.acme.echo", params: {}, maxPriceUsdc: "1.00", maxLatencyMs: 1_000 };
const SELLER = `0x${"5e".repeat(20)}` as const;
const AT = { agent_id: SELLER, payment_mode: "direct" };
const OTHER = { agent_id: `0x${"07".repeat(20)}`, payment_mode: "direct" } as const;
const HOUR_MS = 3_600_000;

describe("the notes about an idempotency key", () => {
  const { account } = newWallet();
  let store: ReturnType<typeof memoryStore>;
  let time: number;
  beforeEach(() => {
    store = memoryStore();
    time = 1_000_000_000_000;
  });

  /** A new process on the same notes. Its journal is empty, so it knows no hire of another process. */
  const processOf = () => {
    const now = () => time;
    const kept = keptHires(store, account, now);
    const of = { kept, now, keyed: new Map(), journal: memoryStore(), underWay: new Set() };
    return of as unknown as BuyerContext;
  };
  const call = (
    context: BuyerContext,
    start: (order: KeyedOrder) => Promise<HireResult>,
    { key = "key", wanted = WANTED }: { key?: string; wanted?: typeof WANTED } = {},
  ) => hireByKey(context, wanted, key, HOUR_MS, start);
  const done = { hireId: "0x01", jobId: "job_1", amount: 5n, money: "paid", result: 1 };
  const succeeds = async () => done as unknown as HireResult;
  const never = () => new Promise<HireResult>(() => {});
  const failure = (money: MoneyState) =>
    new HireFailedError({
      ...{ code: "seller_timeout", message: "late", seller: SELLER, money, hireId: "0x01", jobId: "job_1" },
    });
  /** A hire that signs a payment to the first seller and then fails. `money` says where its money is. */
  const failsWith = (money: MoneyState) => async (order: KeyedOrder) => {
    await order.signed({ hireId: await order.nextNonce(AT), jobId: "job_1", seller: SELLER });
    throw failure(money);
  };

  it("refuse another hire with the key of a hire that runs in this process", async () => {
    const context = processOf();
    void call(context, never);
    const other = { ...WANTED, maxPriceUsdc: "2.00" };
    expect(await rejection(call(context, succeeds, { wanted: other }))).to.include({
      code: "idempotency_key_reused",
    });
  });

  it("give equal calls in this process the same hire, and give the reason why another call is refused", async () => {
    const context = processOf();
    let starts = 0;
    let end = (_: HireResult) => {};
    const start = () => {
      starts++;
      return new Promise<HireResult>((resolve) => {
        end = resolve;
      });
    };
    const calls = [call(context, start), call(context, start)];
    while (starts === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const other = { ...WANTED, maxPriceUsdc: "2.00" };
    const reused = await rejection(call(context, start, { wanted: other }));
    expect(reused.message).to.equal("The key key was used for another hire.");
    expect(reused.hint).to.equal("Give the same parameters as the first time, or another key.");
    const away = await rejection(call(processOf(), start));
    expect(away.message).to.match(/^The hire with the key key is under way in another process/);
    expect(away.hint).to.match(/^Call again with the same key a little later/);
    end(await succeeds());
    const [first, second] = await Promise.all(calls);
    expect([first, second]).to.deep.equal([done, { ...done, isRepeated: true }]);
    expect(starts).to.equal(1);
  });

  it("leave a hire to the process that runs it until its time is over, and no longer", async () => {
    void call(processOf(), never);
    await new Promise((resolve) => setTimeout(resolve, 20));
    time += HOUR_MS;
    expect(await rejection(call(processOf(), succeeds))).to.include({ code: "hire_under_way" });
    time += 1;
    expect(await call(processOf(), succeeds)).to.deep.include({ amount: 5n });
  });

  it("give each seller and each attempt another nonce, which is the same in every process", async () => {
    const nonces: string[] = [];
    for (let n = 0; n < 3; n++) {
      await rejection(
        call(processOf(), async (order) => {
          nonces.push(await order.nextNonce(AT), await order.nextNonce(OTHER));
          throw failure("none");
        }),
      );
    }
    expect(new Set(nonces)).to.have.property("size", 6);
    expect(await processOf().kept.get("key")).to.include({ state: "open", attempts: 6, calls: 3 });
    const [first] = nonces;
    const of = { seller: AT.agent_id, mode: AT.payment_mode, call: 0 };
    expect(await processOf().kept.nonce("key", of), "equal in every process").to.equal(first);
  });

  it("say at every step how far the hire is, so that another process leaves it alone until its time is over", async () => {
    const context = processOf();
    const until = time + HOUR_MS;
    await call(context, async (order) => {
      const running = { state: "running", until, attempts: 1, calls: 1 };
      const hireId = await order.nextNonce(AT);
      expect(await context.kept.get("key")).to.include(running);
      await order.signed({ hireId, jobId: "job_1", seller: SELLER });
      expect(await context.kept.get("key")).to.include({ state: "signed", hireId, seller: SELLER });
      await order.unsigned();
      expect(await context.kept.get("key")).to.include(running);
      return await succeeds();
    });
  });

  it("give a call that begins late the hire that another process ran meanwhile", async () => {
    const context = processOf();
    const { take } = context.kept;
    context.kept.take = async (key) => {
      await call(processOf(), succeeds);
      return await take(key);
    };
    const start = () => expect.fail("it was hired again");
    expect(await call(context, start)).to.deep.equal({ ...done, isRepeated: true });
  });

  it("start no hire if another process has just written the first note about it", async () => {
    const context = processOf();
    context.kept.putNew = async () => false;
    const start = () => expect.fail("it was hired again");
    expect(await rejection(call(context, start))).to.include({ code: "hire_under_way" });
    expect(await store.keys("turn"), "and give the turn back").to.deep.equal([]);
  });

  it("do not start or end a hire by a store that fails, and do not call this a hire of another process", async () => {
    const context = processOf();
    const { take } = context.kept;
    context.kept.take = async (key) => {
      const turn = await take(key);
      return turn && { ...turn, requireHeld: () => Promise.reject(new Error("the disk is away")) };
    };
    const error = await rejection(call(context, async (order) => (await order.nextNonce(AT)) as never));
    expect(error).to.include({ message: "the disk is away" });
  });

  it("call a hire failed if its seller knows it from a process whose records are lost", async () => {
    for (const [code, state] of [
      ["hired_before", "failed"],
      ["seller_timeout", "open"],
    ] as const) {
      const error = new HireFailedError({
        ...{ code, message: "no", seller: SELLER, money: "paid", hireId: "0x01", jobId: "job_1" },
      });
      await rejection(call(processOf(), async () => await Promise.reject(error), { key: code }));
      expect(await processOf().kept.get(code), code).to.include({ state });
    }
  });

  it("let a caller stop waiting for the hire of an equal call, which continues", async () => {
    const context = processOf();
    const end = Promise.withResolvers<HireResult>();
    const first = call(context, () => end.promise);
    const stop = new AbortController();
    const wanted = { ...WANTED, signal: stop.signal };
    const second = rejection(call(context, never, { wanted }));
    stop.abort(new Error("the caller stopped"));
    expect(await second).to.include({ message: "the caller stopped" });
    end.resolve(await succeeds());
    expect(await first).to.include({ result: 1 });
  });

  it("call a hire failed only when its money is settled", async () => {
    for (const money of ["authorized", "held"] as const) {
      await rejection(call(processOf(), failsWith(money), { key: money }));
      expect(await processOf().kept.get(money), money).to.include({ state: "signed", jobId: "job_1" });
    }
    for (const money of ["paid", "refunded", "none"] as const) {
      await rejection(call(processOf(), failsWith(money), { key: money }));
      const kept = await processOf().kept.get(money);
      expect(kept, money).to.include({ state: "failed" });
      expect(await rejection(call(processOf(), succeeds, { key: money })), money).to.include({ money });
    }
  });

  it("allow a new attempt if the payment was signed but not sent", async () => {
    for (const isLate of [false, true]) {
      const key = String(isLate);
      const context = processOf();
      let order: KeyedOrder | undefined;
      const error = await rejection(
        call(
          context,
          async (it) => {
            order = it;
            await it.signed({ hireId: await it.nextNonce(AT), jobId: "job_1", seller: SELLER });
            if (!isLate) await it.unsigned();
            throw new Error("the wallet took too long");
          },
          { key },
        ),
      );
      expect(error).to.include({ message: "the wallet took too long" });
      // If the wallet is late, the signature is undone in the background, after the call has ended.
      if (isLate) await order?.unsigned();
      expect(await context.kept.get(key), key).to.include({ state: "open", attempts: 1 });
      expect(await call(processOf(), succeeds, { key }), key).to.deep.include({ amount: 5n });
    }
  });

  it("do not change when an order that signed nothing is undone after another process took over the hire", async () => {
    let first: KeyedOrder | undefined;
    await rejection(
      call(processOf(), async (order) => {
        first = order;
        throw failure("none");
      }),
    );
    await call(processOf(), succeeds);
    await first?.unsigned();
    expect(await processOf().kept.get("key")).to.include({ state: "done" });
  });

  it("let only one of several processes start again after a process that failed or was killed", async () => {
    const begins = {
      failed: async () =>
        await rejection(call(processOf(), async () => await Promise.reject(failure("none")))),
      killed: async () => {
        void call(processOf(), never);
        await new Promise((resolve) => setTimeout(resolve, 20));
        time += HOUR_MS + 1;
      },
    };
    for (const [how, begin] of Object.entries(begins)) {
      store = memoryStore();
      await begin();
      let started = 0;
      const go = Promise.withResolvers<void>();
      const start = async () => {
        started++;
        await go.promise;
        return await succeeds();
      };
      const calls = [1, 2, 3].map(() => call(processOf(), start).catch((error) => error.code));
      await new Promise((resolve) => setTimeout(resolve, 50));
      go.resolve();
      const ends = await Promise.all(calls);
      expect(started, how).to.equal(1);
      expect(
        ends.filter((end) => end === "hire_under_way"),
        how,
      ).to.have.length(2);
      expect(await store.keys("turn"), how).to.deep.equal([]);
    }
  });

  it("do not let a process that slept sign after another process has taken over the hire", async () => {
    for (const isDone of [true, false]) {
      store = memoryStore();
      const wake = Promise.withResolvers<void>();
      const sleeper = rejection(
        call(processOf(), async (order) => {
          const nonce = await order.nextNonce(AT);
          await wake.promise;
          await order.signed({ hireId: nonce as `0x${string}`, jobId: "job_1", seller: SELLER });
          return done as unknown as HireResult;
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
      time += HOUR_MS + 1;
      const later = { hireId: `0x${"02".repeat(32)}`, jobId: "job_2", seller: SELLER } as const;
      const second = call(processOf(), async (order) => {
        await order.nextNonce(AT);
        await order.signed(later);
        return isDone ? await succeeds() : await never();
      });
      await (isDone ? second : new Promise((resolve) => setTimeout(resolve, 20)));
      wake.resolve();
      expect(await sleeper, String(isDone)).to.include({ code: "hire_under_way" });
      const state = isDone ? { state: "done" } : { state: "signed", jobId: "job_2" };
      expect(await processOf().kept.get("key"), String(isDone)).to.include(state);
    }
  });

  it("keep the result of the process that took over a hire, and not that of a free hire by a process that slept", async () => {
    const wake = Promise.withResolvers<void>();
    const sleeper = call(processOf(), async () => {
      await wake.promise;
      return { ...done, result: "late" } as unknown as HireResult;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    time += HOUR_MS + 1;
    await call(processOf(), succeeds);
    wake.resolve();
    expect(await sleeper, "its caller gets it").to.include({ result: "late" });
    expect(await call(processOf(), never)).to.include({ result: 1, isRepeated: true });
  });

  it("do not change when the wallet of a stopped call signs after the next call has begun", async () => {
    const context = processOf();
    let first: KeyedOrder | undefined;
    await rejection(
      call(context, async (order) => {
        first = order;
        throw new Error("stopped by its caller");
      }),
    );
    const second = { hireId: `0x${"02".repeat(32)}`, jobId: "job_2", seller: SELLER } as const;
    void call(context, async (order) => {
      await order.signed(second);
      return await never();
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const signing = first?.signed({ ...second, jobId: "job_1" }) ?? Promise.resolve();
    expect(await rejection(signing)).to.include({ code: "hire_under_way" });
    await first?.unsigned();
    expect(await context.kept.get("key")).to.include({ state: "signed", jobId: "job_2" });
  });

  it("that cannot be stored do not cost the caller the result", async () => {
    const put = store.put;
    store.put = async (key, value) => {
      if ((value as { state?: string }).state === "done") throw new Error("ENOSPC");
      await put(key, value);
    };
    const hired = await call(processOf(), async (order) => {
      await order.signed({ hireId: await order.nextNonce(AT), jobId: "job_1", seller: SELLER });
      return await succeeds();
    });
    expect(hired).to.include({ result: 1 });
    const lost = await rejection(call(processOf(), succeeds));
    expect(lost).to.include({
      code: "result_lost",
      message: "This hire was concluded, and its result was not kept.",
    });
    expect(lost.hint).to.match(/^Nothing is paid again for this key\. /);
  });

  it("that cannot be stored do not hide from the caller why its hire failed and where the money is", async () => {
    const { put } = store;
    const { get } = store;
    const faults = {
      "the failure": () => {
        store.put = async (key, value) => {
          if (key.startsWith("failure/")) throw new Error("ENOSPC");
          await put(key, value);
        };
      },
      "the look at the journal": () => {
        store.get = async <T>(key: string) => {
          if (key.startsWith("end/")) throw new Error("EIO");
          return await get<T>(key);
        };
      },
    };
    for (const [key, sabotage] of Object.entries(faults)) {
      sabotage();
      const error = await rejection(
        call(processOf(), failsWith("refunded"), { key: key.replaceAll(" ", "-") }),
      );
      expect(error, key).to.include({ code: "seller_timeout", money: "refunded" });
      Object.assign(store, { put, get });
    }
  });

  it("say where the money ended if the process ended before it stored the result", async () => {
    for (const [end, money] of [
      ["released", "paid"],
      ["refunded", "refunded"],
    ] as const) {
      const context = processOf();
      const settled = Promise.withResolvers<void>();
      const start = async (order: KeyedOrder) => {
        await order.signed({ hireId: await order.nextNonce(AT), jobId: "job_1", seller: SELLER });
        settled.resolve(context.kept.settled(end, "job_1", { money: end }));
        return await never();
      };
      void call(context, start, { key: end });
      await settled.promise;
      const lost = await rejection(call(processOf(), never, { key: end }));
      expect(lost).to.include({ code: "result_lost", money });
    }
  });

  it("are kept for thirty days, and then the key means a new hire", async () => {
    const context = processOf();
    await call(context, succeeds);
    time += KEPT_MS - 1;
    expect(await call(context, never)).to.deep.include({ amount: 5n, isRepeated: true });
    // The process removed old notes less than an hour ago, so this note is still in its store.
    time += 1;
    const other = async () => ({ ...done, amount: 6n }) as unknown as HireResult;
    expect(await call(context, other)).to.deep.include({ amount: 6n });
    expect(await context.kept.putNew({ ...(await kept()), startedAt: time })).to.equal(false);
  });
  const kept = async () => {
    const found = await processOf().kept.get("key");
    if (found === undefined) throw new Error("nothing is kept");
    return found;
  };

  it("are limited in number: the oldest are removed, but no note about a signed payment", async () => {
    const { kept } = processOf();
    await store.put("call/eldest", { key: "e", asked: "", startedAt: time - 1, attempts: 0, state: "open" });
    await store.put("call/paid", { key: "p", asked: "", startedAt: time - 2, attempts: 1, state: "signed" });
    for (let n = 0; n < MAX_KEPT; n++) {
      const startedAt = time + n;
      await store.put(`call/${n}`, { key: String(n), asked: "", startedAt, attempts: 0, state: "open" });
    }
    time += MAX_KEPT;
    const { get } = store;
    let reads = 0;
    store.get = async <T>(key: string) => {
      if (key === "call/paid") reads++;
      return await get<T>(key);
    };
    await kept.putNew({ key: "new", asked: "", startedAt: time, attempts: 0, state: "open" });
    expect(reads, "a note is read once").to.equal(1);
    expect(await store.get("call/eldest")).to.equal(undefined);
    expect(await store.get("call/0")).not.to.equal(undefined);
    expect(await store.get("call/paid")).not.to.equal(undefined);
  });

  it("lose their result or failure when there are too many, but a key that has signed never pays again", async () => {
    const ofMoney = (money: string) =>
      ({ ...done, listing: { agent_id: SELLER }, money }) as unknown as HireResult;
    const ends = { done: "paid", released: "released", free: "none", open: "authorized" };
    for (const [key, money] of Object.entries(ends))
      await call(processOf(), async () => ofMoney(money), { key });
    await rejection(call(processOf(), failsWith("refunded"), { key: "failed" }));
    await rejection(call(processOf(), failsWith("none"), { key: "expired" }));
    await rejection(
      call(processOf(), async () => await Promise.reject(failure("none")), { key: "unsigned" }),
    );
    time += 1;
    for (let n = 0; n < MAX_KEPT; n++) {
      await store.put(`call/${n}`, {
        key: String(n),
        asked: "",
        startedAt: time,
        attempts: 0,
        state: "open",
      });
    }
    const { kept } = processOf();
    await kept.putNew({ key: "another", asked: "", startedAt: time, attempts: 0, state: "open" });
    const lost = {
      ...{ done: "paid", released: "paid", free: "none", open: "authorized" },
      ...{ failed: "refunded", expired: "none" },
    };
    for (const [key, money] of Object.entries(lost)) {
      expect(await kept.get(key), key).to.include({ state: "signed", startedAt: time - 1 });
      const start = () => expect.fail(`${key} was hired again`);
      const of = { code: "result_lost", money, hireId: "0x01", jobId: "job_1", seller: SELLER };
      expect(await rejection(call(processOf(), start, { key })), key).to.include(of);
    }
    expect(await kept.get("unsigned"), "nothing was signed").to.equal(undefined);
    time += KEPT_MS;
    await processOf().kept.putNew({ key: "later", asked: "", startedAt: time, attempts: 0, state: "open" });
    expect(await store.keys("call"), "after thirty days").to.have.length(1);
  });

  it("stay when their hire has signed while old notes are removed", async () => {
    const old = { key: "old", asked: "", startedAt: time - 1, attempts: 1 };
    await store.put("call/old", { ...old, state: "open" });
    for (let n = 0; n < MAX_KEPT; n++) {
      await store.put(`call/${n}`, {
        key: String(n),
        asked: "",
        startedAt: time,
        attempts: 0,
        state: "open",
      });
    }
    const { get } = store;
    let reads = 0;
    store.get = async <T>(key: string) => {
      const found = await get<T>(key);
      // The last note is listed, and nothing is removed yet.
      if (key.startsWith("call/") && ++reads === MAX_KEPT + 1)
        await store.put("call/old", {
          ...old,
          state: "signed",
          hireId: "0x01",
          jobId: "job_1",
          seller: SELLER,
        });
      return found;
    };
    await processOf().kept.putNew({ key: "new", asked: "", startedAt: time, attempts: 0, state: "open" });
    expect(await get("call/old")).to.include({ state: "signed" });
  });

  it("use a key of 32 bytes as the first nonce, and secret values as all other nonces", async () => {
    const key = `0x${"ab".repeat(32)}`;
    const kept = keptHires(memoryStore(), account, () => 0);
    const context = { kept, now: () => 0, keyed: new Map() } as unknown as BuyerContext;
    const nonces: string[] = [];
    for (let call = 0; call < 2; call++) {
      const start = async ({ nextNonce }: KeyedOrder) => {
        nonces.push(await nextNonce(AT), await nextNonce(OTHER));
        throw new Error("nobody took it");
      };
      await rejection(hireByKey(context, WANTED, key, HOUR_MS, start));
    }
    const [first, ...others] = nonces;
    expect(first).to.equal(key);
    const foreign = keptHires(memoryStore(), newWallet().account, () => 0);
    const of = { seller: AT.agent_id, mode: AT.payment_mode, call: 0 };
    for (const changes of [{}, { seller: OTHER.agent_id }, { mode: "platform_escrow:a" }, { call: 1 }])
      others.push(await kept.nonce("k", { ...of, ...changes }));
    others.push(await kept.nonce("l", of), await foreign.nonce("k", of));
    expect(new Set([key, ...others])).to.have.property("size", 10);
    for (const nonce of others) expect(nonce).to.match(/^0x[0-9a-f]{64}$/);
  });
});
