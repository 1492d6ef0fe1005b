import { expect } from "chai";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import { checkKey, KEPT_MS, type KeptHire, type KeptHires, keptHires } from "tallystick-sdk/buyer/keptHires";
import { HireFailedError } from "tallystick-sdk/errors";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { newWallet } from "./support/sdkChain.ts";

const SELLER = `0x${"5e".repeat(20)}` as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("stored results", () => {
  it("are removed, the oldest first, if they have too many characters; the note about the hire stays", async () => {
    const kept = keptHires(memoryStore(), newWallet().account, Date.now, 100);
    const listing = { agent_id: "0xseller" };
    for (const key of ["a", "b", "c"]) {
      const asked = "0x00";
      await kept.putNew({ key, asked, startedAt: Date.now(), attempts: 1, state: "running", until: 0 });
      const hire = { hireId: `0x${key}`, jobId: `job_${key}`, listing, amount: 1n, result: "x".repeat(40) };
      await kept.done(key, hire as unknown as HireResult);
      // A result that is stored twice counts once.
      await kept.done(key, hire as unknown as HireResult);
    }
    const states = await Promise.all(["a", "b", "c"].map((key) => kept.get(key)));
    expect(states.map((it) => it?.state)).to.deep.equal(["signed", "done", "done"]);
    expect(states[0] as KeptHire).to.include({
      ...{ hireId: "0xa", jobId: "job_a", seller: "0xseller", isNote: true },
    });
  });

  it("may have exactly the allowed number of characters; a result that is stored again counts as the newest", async () => {
    // Each result has 42 characters, so two results fit.
    const kept = keptHires(memoryStore(), newWallet().account, Date.now, 84);
    const states = async (keys: string) =>
      Promise.all([...keys].map(async (key) => (await kept.get(key))?.state));
    const tell = async (key: string) => {
      const startedAt = Date.now();
      await kept.putNew({ key, asked: "", startedAt, attempts: 1, state: "running", until: 0 });
      const hire = { hireId: "0x01", jobId: key, listing: {}, amount: 1n, result: "x".repeat(40) };
      await kept.done(key, hire as unknown as HireResult);
    };
    for (const key of ["a", "b"]) await tell(key);
    expect(await states("ab")).to.deep.equal(["done", "done"]);
    for (const key of ["a", "c"]) await tell(key);
    expect(await states("abc")).to.deep.equal(["done", "signed", "done"]);
    for (const key of ["d", "e"]) await tell(key);
    expect(await states("abcde")).to.deep.equal(["signed", "signed", "signed", "done", "done"]);
  });
});

describe("the stored notes about a hire", () => {
  const { account } = newWallet();
  const open = (store = memoryStore()) => keptHires(store, account, () => 0);
  const HASH = "ab".repeat(32);
  const TX = `0x${"7a".repeat(32)}` as const;
  const running = (key: string): KeptHire => ({
    ...{ key, asked: "", startedAt: 0, attempts: 1, state: "running", until: 0 },
  });
  const signed = (key: string, jobId = "job_1"): KeptHire => ({
    ...running(key),
    ...({ state: "signed", hireId: "0x01", jobId, seller: SELLER } as const),
  });
  const held = {
    ...{ jobId: "job_1", listing: {}, amount: 1n, result: 1, money: "held" },
    ...{ receiptHash: null, ratingToken: null, settlementTx: "0x05" },
  } as unknown as HireResult;
  const failure = (jobId = "job_1") =>
    new HireFailedError({
      ...{ code: "garbage_answer", message: "It cannot be read.", seller: SELLER, money: "refunded" },
      ...{ hireId: "0x01", jobId },
    });
  const hireOf = async (kept: KeptHires, key: string) => {
    const found = await kept.get(key);
    return found?.state === "done" ? found.hire : expect.fail("no result is stored");
  };

  it("get what is known before the result, and what becomes known after it", async () => {
    let kept = open();
    const facts = [
      () => kept.receipt("k", "job_1", HASH),
      () => kept.settled("k", "job_1", { money: "released", tx: TX }),
      () => kept.done("k", held),
    ];
    const orders = [
      [0, 1, 2],
      [1, 0, 2],
      [0, 2, 1],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    for (const order of orders) {
      kept = open();
      await kept.put(signed("k"));
      for (const at of order) await facts[at]?.();
      expect(await hireOf(kept, "k"), order.join()).to.include({
        ...{ receiptHash: HASH, ratingToken: ratingToken(HASH, "buyer") },
        ...{ money: "released", settlementTx: TX },
      });
    }
    await kept.put(running("k"));
    await kept.done("k", { ...held, jobId: "job_2" });
    expect(await hireOf(kept, "k"), "of another hire with this key").to.include({
      receiptHash: null,
      money: "held",
    });
  });

  it("do not replace a receipt or the end of the money, which are final", async () => {
    const kept = open();
    await kept.put(running("k"));
    await kept.done("k", { ...held, receiptHash: HASH, ratingToken: "t" });
    await kept.receipt("k", "job_1", "cd".repeat(32));
    await kept.settled("k", "job_1", { money: "refunded" });
    await kept.settled("k", "job_1", { money: "released", tx: TX });
    const end = { receiptHash: HASH, ratingToken: "t", money: "refunded", settlementTx: "0x05" };
    expect(await hireOf(kept, "k")).to.include(end);
  });

  it("lose a failure together with the result that makes room, and keep where the money is", async () => {
    const kept = keptHires(memoryStore(), account, () => 0, 1);
    await kept.put(signed("k"));
    await kept.failed("k", failure());
    expect(await kept.get("k")).to.include({ state: "failed" });
    await kept.done("k", { ...held, listing: { agent_id: SELLER } } as HireResult);
    expect(await kept.get("k")).to.include({ state: "done" });
    await kept.put(running("l"));
    await kept.done("l", { ...held, jobId: "job_2" });
    expect(await kept.get("k")).to.include({ state: "signed", money: "refunded", isNote: true });
  });

  it("take no end of the money from a time when nothing was signed, of another hire, or for an unknown key", async () => {
    const kept = open();
    await kept.settled("k", "job_1", { money: "released" });
    await kept.put(running("k"));
    await kept.settled("k", "job_1", { money: "released" });
    await kept.put(signed("k", "job_2"));
    await kept.settled("k", "job_1", { money: "released" });
    expect(await kept.isSettled("k", "job_1")).to.equal(false);
    await kept.done("k", held);
    expect(await hireOf(kept, "k")).to.include({ money: "held" });
  });

  it("take no failure of a hire for which the key has not signed once it has signed for another one", async () => {
    const kept = open();
    expect(await kept.hasSigned("k", "job_1"), "unknown").to.equal(false);
    await kept.put(running("k"));
    expect(await kept.hasSigned("k", "job_1"), "running").to.equal(false);
    for (const end of ["signed", "done", "failed"]) {
      await kept.put(signed("k"));
      if (end === "done") await kept.done("k", held);
      if (end === "failed") await kept.failed("k", failure());
      const before = await kept.get("k");
      expect(before?.state).to.equal(end);
      await kept.failed("k", failure("job_0"));
      expect(await kept.get("k"), end).to.deep.equal(before);
      const has = await Promise.all(["job_0", "job_1"].map((job) => kept.hasSigned("k", job)));
      expect(has, end).to.deep.equal([false, true]);
    }
  });

  it("keep the receipt of a hire without a result also for another process, and no receipt of another hire", async () => {
    const store = memoryStore();
    const kept = open(store);
    await kept.receipt("unknown", "job_1", HASH);
    for (const key of ["k", "unknown"]) await kept.put(running(key));
    await kept.receipt("k", "job_0", "cd".repeat(32));
    await kept.receipt("k", "job_1", HASH);
    for (const key of ["k", "unknown"]) await open(store).done(key, held);
    expect(await hireOf(kept, "k")).to.include({ receiptHash: HASH });
    expect(await hireOf(kept, "unknown")).to.include({ receiptHash: null });
  });

  it("say whether the end of the money is stored, in every process", async () => {
    const store = memoryStore();
    await open(store).put(signed("k"));
    expect(await open(store).isSettled("k", "job_1")).to.equal(false);
    await open(store).settled("k", "job_1", { money: "released", tx: TX });
    expect(await open(store).isSettled("k", "job_1")).to.equal(true);
    expect(await open(store).isSettled("k", "job_2")).to.equal(false);
    expect(await open(store).get("k")).to.deep.equal({ ...signed("k"), money: "paid" });
  });

  it("are removed after a month with all that is known of their hires, also if a key is used again", async () => {
    for (const isSwept of [true, false]) {
      const store = memoryStore();
      let time = isSwept ? 0 : KEPT_MS;
      const kept = keptHires(store, account, () => time);
      // The first new note sweeps, and the next one an hour later at the earliest.
      await kept.putNew({ ...running("first"), startedAt: time });
      const startedAt = isSwept ? 0 : 1;
      for (const key of ["a", "b", "c"])
        await kept.put({ ...signed(key, `job_${key}`), startedAt } as KeptHire);
      await kept.settled("a", "job_a", { money: "released" });
      await kept.receipt("b", "job_b", HASH);
      await kept.failed("c", failure("job_c"));
      time = KEPT_MS + 1;
      const keys = isSwept ? ["new"] : ["a", "b", "c"];
      for (const key of keys) await kept.putNew({ ...running(key), startedAt: time });
      const left = ["end", "receipt", "failure"].map((folder) => store.keys(folder));
      expect((await Promise.all(left)).flat(), `swept: ${isSwept}`).to.deep.equal([]);
    }
  });

  it("change one after the other, also when a change comes while an earlier one still waits for the disk", async () => {
    const store = memoryStore();
    const kept = open(store);
    await kept.put(running("k"));
    await kept.done("k", held);
    const disk = Promise.withResolvers<void>();
    const { put } = store;
    store.put = async (key, value) => {
      if ((value as { hire?: HireResult }).hire?.result === 2) await disk.promise;
      await put(key, value);
    };
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const second = kept.done("k", { ...held, result: 2 });
    await turn();
    const third = kept.done("k", { ...held, result: 3 });
    await turn();
    disk.resolve();
    await Promise.all([second, third]);
    expect(await hireOf(kept, "k")).to.include({ result: 3 });
  });

  it("do not fail when results that are older than a month have to make room", async () => {
    let time = 0;
    // The older result has 4 characters (null), the other one 6.
    const kept = keptHires(memoryStore(), account, () => time, 6);
    await kept.put(running("old"));
    await kept.done("old", { ...held, result: undefined });
    time = KEPT_MS;
    await kept.put({ ...running("new"), startedAt: time });
    await kept.done("new", { ...held, result: "abcd" });
    expect([(await kept.get("old"))?.state, (await kept.get("new"))?.state]).to.deep.equal([
      undefined,
      "done",
    ]);
  });

  it("keep all changes that are made at the same time", async () => {
    const kept = open();
    const key = "k";
    const hash = "ab".repeat(32);
    await kept.putNew({ key, asked: "", startedAt: 0, attempts: 1, state: "running", until: 0 });
    const hire = { jobId: "job_1", listing: {}, amount: 1n, result: 1, money: "held", receiptHash: null };
    await kept.done(key, hire as unknown as HireResult);
    await Promise.all([kept.receipt(key, "job_1", hash), kept.settled(key, "job_1", { money: "released" })]);
    const end = await kept.get(key);
    expect(end).to.have.property("hire").that.includes({ receiptHash: hash, money: "released" });
  });

  it("have a key of at most 200 visible characters", () => {
    for (const key of ["a", "!", "~", "x".repeat(200)]) expect(checkKey(key)).to.equal(key);
    for (const key of ["", " ", "a b", "a\n", "\u007f", "é", "x".repeat(201)]) {
      expect(() => checkKey(key), key)
        .to.throw()
        .with.property("issues")
        .that.deep.equals([
          { field: "idempotencyKey", message: "must have 1 to 200 visible ASCII characters" },
        ]);
    }
  });

  it("have all fields of a failure's error, and no others", async () => {
    const kept = open();
    const base = { code: "seller_refused", message: "It answered 500.", seller: SELLER };
    const ids = { money: "paid", hireId: "0x01", jobId: "job_1" } as const;
    const escrow = { contract: SELLER, escrowId: "0x02", deadline: 5 } as const;
    for (const more of [{}, { hint: "Rate it." }, { escrow }, { words: { text: "no" } }]) {
      await kept.put({ key: "k", asked: "a", startedAt: 0, attempts: 2, state: "open" });
      await kept.failed("k", new HireFailedError({ ...base, ...ids, ...more }));
      const error = { ...base, ...ids, ...more };
      const found = await kept.get("k");
      expect(found).to.deep.equal({
        key: "k",
        asked: "a",
        startedAt: 0,
        attempts: 2,
        state: "failed",
        error,
      });
    }
    await kept.failed("unknown", new HireFailedError({ ...base, ...ids }));
    await kept.done("unknown", { amount: 1n } as HireResult);
    expect(await kept.get("unknown")).to.equal(undefined);
  });

  it("are removed after a month, when a new note is written, at most once an hour", async () => {
    const store = memoryStore();
    let time = KEPT_MS;
    const kept = keptHires(store, account, () => time);
    const write = (key: string) =>
      kept.putNew({ key, asked: "", startedAt: time, attempts: 0, state: "open" });
    const put = (name: string, startedAt: number) =>
      store.put(`call/${name}`, { key: name, asked: "", startedAt, attempts: 0, state: "open" });
    await put("old", 0);
    await put("young", 1);
    await write("one");
    expect(await store.get("call/old")).to.equal(undefined);
    expect(await store.get("call/young")).not.to.equal(undefined);
    time += HOUR_MS - 1;
    await write("two");
    expect(await store.get("call/young"), "less than an hour later").not.to.equal(undefined);
    time += 1;
    await write("three");
    expect(await store.get("call/young"), "an hour later").to.equal(undefined);
  });

  it("are not replaced by a first note, unless they are older than a month", async () => {
    let time = KEPT_MS;
    const kept = keptHires(memoryStore(), account, () => time);
    const first = { ...running("key"), startedAt: time } as KeptHire;
    expect(await kept.putNew(first)).to.equal(true);
    const second = { ...first, asked: "another", startedAt: time + 1 };
    expect([await kept.putNew(second), await kept.get("key")]).to.deep.equal([false, first]);
    time += KEPT_MS;
    expect([await kept.putNew(second), await kept.get("key")]).to.deep.equal([true, second]);
  });

  it("do not fail because another note cannot be read, which stays", async () => {
    const store = memoryStore();
    const damaged = ["call/damaged", "turn/damaged"];
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (damaged.includes(key)) throw new Error("damaged");
      return await store.get<T>(key);
    };
    for (const key of damaged) await store.put(key, {});
    const kept = keptHires({ ...store, get }, account, () => KEPT_MS);
    await kept.putNew({ key: "k", asked: "", startedAt: KEPT_MS, attempts: 0, state: "open" });
    expect((await kept.get("k"))?.state).to.equal("open");
    for (const key of damaged) expect(await store.get(key), key).to.deep.equal({});
  });

  it("do not fail because another note, or what is known of its hire, cannot be removed", async () => {
    const store = memoryStore();
    const earlier = keptHires(store, account, () => 0);
    for (const key of ["a", "b"]) await earlier.put(signed(key, `job_${key}`));
    await store.put("turn/old-1", { holder: "a", until: 0 });
    const stuck = async (name: string) => {
      if (name.endsWith(".job_a") || name.startsWith("turn/")) throw new Error("EACCES");
      await store.delete(name);
    };
    const kept = keptHires({ ...store, delete: stuck }, account, () => KEPT_MS);
    expect(await kept.putNew({ ...running("k"), startedAt: KEPT_MS })).to.equal(true);
    const left = await Promise.all((await store.keys("call")).map((name) => store.get<KeptHire>(name)));
    expect(left.map((it) => it?.key).sort()).to.deep.equal(["a", "k"]);
  });

  it("do not fail because another process removes an old note that is about to be removed", async () => {
    const store = memoryStore();
    await store.put("call/old", running("old"));
    const get = async <T>(name: string): Promise<T | undefined> => {
      const found = await store.get<T>(name);
      if (name === "call/old") await store.delete(name);
      return found;
    };
    const kept = keptHires({ ...store, get }, account, () => KEPT_MS);
    await kept.putNew({ ...running("k"), startedAt: KEPT_MS });
    expect(await store.keys("call")).to.have.length(1);
  });

  it("are removed together with the turns that ended a day ago, also if another process removes some meanwhile", async () => {
    const store = memoryStore();
    const time = KEPT_MS;
    const kept = keptHires(store, account, () => time);
    await store.put("turn/old-1", { holder: "a", until: time - DAY_MS });
    await store.put("turn/young-1", { holder: "a", until: time - DAY_MS + 1 });
    const { keys } = store;
    store.keys = async (folder) => [`${folder}/gone`, ...(await keys(folder))];
    await kept.putNew({ ...running("k"), startedAt: time });
    expect(await keys("turn")).to.deep.equal(["turn/young-1"]);
    expect(await keys("call")).to.have.length(1);
  });
});
