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
const HOUR_MS = 3_600_000;

describe("the notes about an idempotency key", () => {
  const { account } = newWallet();
  let store: ReturnType<typeof memoryStore>;
  let time: number;
  beforeEach(() => {
    store = memoryStore();
    time = 1_000_000_000_000;
  });

  /** What a process has of a key. Its journal is empty, and no hire of another process is in it. */
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
  /** A hire that signs with the first seller and then fails with its money there. */
  const failsWith = (money: MoneyState) => async (order: KeyedOrder) => {
    await order.signed({ hireId: await order.nextNonce(), jobId: "job_1", seller: SELLER });
    throw failure(money);
  };

  it("refuse another hire under a key whose hire runs in this process", async () => {
    const context = processOf();
    void call(context, never);
    const other = { ...WANTED, maxPriceUsdc: "2.00" };
    expect(await rejection(call(context, succeeds, { wanted: other }))).to.include({
      code: "idempotency_key_reused",
    });
  });

  it("leave a hire to the process that runs it until its time is over, and not a moment longer", async () => {
    void call(processOf(), never);
    await new Promise((resolve) => setTimeout(resolve, 20));
    time += HOUR_MS;
    expect(await rejection(call(processOf(), succeeds))).to.include({ code: "hire_under_way" });
    time += 1;
    expect(await call(processOf(), succeeds)).to.deep.include({ amount: 5n });
  });

  it("give no seller a nonce that another one had, whichever process asks and however often it fails", async () => {
    const nonces: string[] = [];
    for (let n = 0; n < 3; n++) {
      await rejection(
        call(processOf(), async (order) => {
          nonces.push(await order.nextNonce(), await order.nextNonce());
          throw failure("none");
        }),
      );
    }
    expect(new Set(nonces)).to.have.property("size", 6);
    const [first] = nonces;
    await processOf().kept.put({ key: "k", asked: "", startedAt: time, attempts: 0, state: "open" });
    expect(await processOf().kept.nonce("key", 0), "the same in every process").to.equal(first);
  });

  it("do not call a hire failed while its money is open, and do once it is settled", async () => {
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

  it("let a hire be tried again whose payment was signed and never left", async () => {
    for (const isLate of [false, true]) {
      const key = String(isLate);
      const context = processOf();
      let order: KeyedOrder | undefined;
      const error = await rejection(
        call(
          context,
          async (it) => {
            order = it;
            await it.signed({ hireId: await it.nextNonce(), jobId: "job_1", seller: SELLER });
            if (!isLate) await it.unsigned();
            throw new Error("the wallet took too long");
          },
          { key },
        ),
      );
      expect(error).to.include({ message: "the wallet took too long" });
      // What is undone in the background comes after the call has ended.
      if (isLate) await order?.unsigned();
      expect(await context.kept.get(key), key).to.include({ state: "open", attempts: 1 });
      expect(await call(processOf(), succeeds, { key }), key).to.deep.include({ amount: 5n });
    }
  });

  it("are not undone by an order that signed nothing, long after its hire is another process's", async () => {
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

  it("are kept for thirty days, and then the key is a new hire's", async () => {
    const context = processOf();
    await call(context, succeeds);
    time += KEPT_MS - 1;
    expect(await call(context, never)).to.deep.include({ amount: 5n, isRepeated: true });
    // The process has looked for old ones within the hour, so this one is still in its store.
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

  it("are no more than so many: the oldest go", async () => {
    const { kept } = processOf();
    for (let n = 0; n < MAX_KEPT; n++) {
      const startedAt = time + n;
      await store.put(`call/${n}`, { key: String(n), asked: "", startedAt, attempts: 0, state: "open" });
    }
    await store.put("call/eldest", { key: "e", asked: "", startedAt: time - 1, attempts: 0, state: "open" });
    time += MAX_KEPT;
    await kept.putNew({ key: "new", asked: "", startedAt: time, attempts: 0, state: "open" });
    expect(await store.get("call/eldest")).to.equal(undefined);
    expect(await store.get("call/0")).not.to.equal(undefined);
  });
});
