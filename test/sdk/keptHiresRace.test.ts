import { expect } from "chai";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import { type KeptHire, type KeptHires, keptHires } from "tallystick-sdk/buyer/keptHires";
import { HireFailedError } from "tallystick-sdk/errors";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { newWallet } from "./support/sdkChain.ts";

const SELLER = `0x${"5e".repeat(20)}` as const;
const HASH = "ab".repeat(32);
const TX = `0x${"7a".repeat(32)}` as const;
const of = { hireId: "0x01", jobId: "job_1" } as const;
const signed: KeptHire = {
  ...{ key: "k", asked: "", startedAt: 0, attempts: 1, state: "signed", ...of, seller: SELLER },
};
const held = {
  ...{ ...of, listing: { agent_id: SELLER }, amount: 1n, result: 1, money: "held" },
  ...{ receiptHash: null, ratingToken: null, settlementTx: null },
} as unknown as HireResult;
const failure = new HireFailedError({
  ...{ code: "garbage_answer", message: "It cannot be read.", seller: SELLER, money: "refunded", ...of },
});

/** What a process does to a hire under the key `k`. */
type Work = (kept: KeptHires) => Promise<unknown>;
const works: { [name: string]: Work } = {
  done: (kept) => kept.done("k", held),
  settled: (kept) => kept.settled("k", "job_1", { money: "released", tx: TX }),
  receipt: (kept) => kept.receipt("k", "job_1", HASH),
  failed: (kept) => kept.failed("k", failure),
};

/**
 * Runs the work of several processes on one store. Each request of a process to the store waits for its turn. `choose` says
 * whose request is next.
 */
async function inTurns(
  store: KeyValueStore,
  all: readonly Work[],
  choose: (waiting: number[]) => number,
): Promise<void> {
  const { account } = newWallet();
  const waiting = new Map<number, () => void>();
  let running = all.length;
  const processOf = (n: number): KeyValueStore => {
    const turn = () => new Promise<void>((resolve) => waiting.set(n, resolve));
    const wrap =
      <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
      async (...args: Args): Promise<T> => {
        await turn();
        return await work(...args);
      };
    return {
      get: wrap(store.get) as KeyValueStore["get"],
      put: wrap(store.put),
      putNew: wrap(store.putNew),
      delete: wrap(store.delete),
      keys: wrap(store.keys),
    };
  };
  const ends = all.map((work, n) =>
    work(keptHires(processOf(n), account, () => 0)).finally(() => {
      running--;
    }),
  );
  while (running > 0) {
    // Every process that runs comes to its next request, or to its end.
    await new Promise((resolve) => setImmediate(resolve));
    if (waiting.size === 0) continue;
    const next = choose([...waiting.keys()].sort());
    const go = waiting.get(next);
    waiting.delete(next);
    go?.();
  }
  await Promise.all(ends);
}

/** All orders in which the requests of these works can come to the store. */
async function inEveryOrder(
  all: readonly Work[],
  check: (store: KeyValueStore, order: string) => Promise<void>,
) {
  const { account } = newWallet();
  const paths: number[][] = [[]];
  let count = 0;
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    const store = memoryStore();
    await keptHires(store, account, () => 0).put(signed);
    const taken: number[] = [];
    const begun: readonly number[] = path;
    await inTurns(store, all, (waiting) => {
      const choice = begun[taken.length] ?? waiting[0] ?? 0;
      // The orders with another choice at this place come later.
      if (taken.length >= begun.length) for (const other of waiting.slice(1)) paths.push([...taken, other]);
      taken.push(choice);
      return choice;
    });
    count++;
    await check(store, taken.join(""));
  }
  return count;
}

describe("two processes that end one hire at the same moment", () => {
  const names = Object.keys(works);
  const pairs = names.flatMap((one, at) => names.slice(at).map((other) => [one, other] as const));
  for (const pair of pairs) {
    it(`keep what each of them stored, in every order of their requests: ${pair.join(" and ")}`, async () => {
      const work = pair.map((name) => works[name] as Work);
      const did = (name: string) => pair.includes(name);
      const count = await inEveryOrder(work, async (store, order) => {
        const kept = keptHires(store, newWallet().account, () => 0);
        const found = await kept.get("k");
        if (did("done")) {
          if (found?.state !== "done") return expect.fail(`${order}: the result is lost`);
          const money = did("settled") ? "released" : did("failed") ? "refunded" : "held";
          expect(found.hire.money, order).to.equal(money);
          expect(found.hire.settlementTx, order).to.equal(did("settled") ? TX : null);
          expect(found.hire.receiptHash, order).to.equal(did("receipt") ? HASH : null);
        } else if (did("failed")) expect(found?.state, order).to.equal("failed");
        else {
          expect(found, order).to.deep.include(did("settled") ? { ...signed, money: "paid" } : signed);
          await kept.done("k", held);
          const later = await kept.get("k");
          expect(later, order)
            .to.have.property("hire")
            .that.includes({
              receiptHash: did("receipt") ? HASH : null,
              money: did("settled") ? "released" : "held",
            });
        }
      });
      expect(count).to.be.greaterThan(1);
    });
  }
});
