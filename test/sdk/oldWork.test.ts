import { expect } from "chai";
import { createSeller } from "tallystick-sdk/createSeller";
import type { Job } from "tallystick-sdk/seller/job";
import { jobRoutes } from "tallystick-sdk/seller/jobRoutes";
import { createOldWork } from "tallystick-sdk/seller/oldWork";
import { problemResponse } from "tallystick-sdk/seller/problem";
import { sellerStore } from "tallystick-sdk/seller/sellerStore";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { MEAN, mean } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const START = 1_800_000_000_000;

describe("the work of a seller's old jobs", () => {
  let time: number;
  let store: KeyValueStore;
  beforeEach(() => {
    [time, store] = [START, memoryStore()];
  });

  const idOf = (name: string) => `job_${name.padStart(26, "0")}`;
  const jobOf = (name: string, changes: object = {}): Job =>
    ({
      ...{ id: idOf(name), stage: "completed", params: { data: [1] }, result: { result: 1 }, price: "50000" },
      ...{ answer: { result: { result: 1 } }, completedAt: START, dueAt: START, free: false, ...changes },
    }) as unknown as Job;
  const put = async (name: string, changes?: object) =>
    await store.put(`job/${idOf(name)}`, jobOf(name, changes));
  const isWhole = async (name: string) => (await store.get<Job>(`job/${idOf(name)}`))?.result !== undefined;
  const statusOf = async (name: string): Promise<number> => {
    const app = jobRoutes({ store, now: () => time } as never);
    app.onError((error) => problemResponse(error, () => {}));
    return (await app.request(`/jobs/${idOf(name)}`)).status;
  };

  it("is deleted 90 days after their end, and the jobs stay, so that no nonce is used again", async () => {
    const pass = createOldWork({ store, now: () => time });
    await put("A", { tx: "0xab", hashes: { params: "0x01", result: "0x02" } });
    time += 90 * DAY_MS - 1;
    await pass();
    expect([await isWhole("A"), await statusOf("A")]).to.deep.equal([true, 200]);
    time += HOUR_MS;
    await pass();
    expect(await store.get(`job/${idOf("A")}`)).to.deep.equal({
      ...{ id: idOf("A"), stage: "completed", params: {}, price: "50000", completedAt: START, dueAt: START },
      ...{ free: false, tx: "0xab", hashes: { params: "0x01", result: "0x02" }, forgottenAt: time },
    });
    expect(await statusOf("A")).to.equal(404);
  });

  it("stays while the job goes on, something of it is on its way, or its escrow may hold money", async () => {
    const late = { payload: { payload: { hire: { deadline: (START + 100 * DAY_MS) / 1_000 } } } };
    await put("A", { stage: "collecting" });
    await put("B");
    await put("C");
    await put("D", { payment: late });
    await put("E", { stage: "failed" });
    await put("F");
    await store.put(`outbox/${idOf("B")}`, {});
    await store.put(`callback/${idOf("C")}`, true);
    await store.put(`refused/${idOf("F")}`, {});
    const pass = createOldWork({ store, now: () => time });
    const whole = async () => {
      const names = ["A", "B", "C", "D", "E", "F"];
      const are = await Promise.all(names.map(isWhole));
      return names.filter((_, at) => are[at]).join("");
    };
    time += 100 * DAY_MS;
    await pass();
    expect(await whole()).to.equal("ABCDF");
    await store.delete(`outbox/${idOf("B")}`);
    time += 90 * DAY_MS;
    await pass();
    expect(await whole()).to.equal("ACF");
  });

  it("is looked for in a part of the jobs at a time, once an hour", async () => {
    for (let at = 0; at < 2_500; at++) await put(String(at));
    time += 91 * DAY_MS;
    let read = 0;
    const counting: KeyValueStore = {
      ...store,
      get: async <T>(key: string) => {
        if (key.startsWith("job/")) read++;
        return await store.get<T>(key);
      },
    };
    const pass = createOldWork({ store: counting, now: () => time });
    await pass();
    await pass();
    expect(read).to.equal(2_000);
    time += HOUR_MS;
    await pass();
    expect(read).to.equal(2_500);
    for (const name of ["0", "2499"]) expect(await isWhole(name), name).to.equal(false);
  });

  it("is deleted although one of the jobs cannot be read", async () => {
    for (let at = 0; at < 30; at++) await put(String(at));
    time += 91 * DAY_MS;
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === `job/${idOf("0")}`) throw new Error("damaged");
      return await store.get<T>(key);
    };
    const pass = createOldWork({ store: { ...store, get }, now: () => time });
    expect((await rejection(pass())).message).to.equal("damaged");
    for (const name of ["1", "29"]) expect(await isWhole(name), name).to.equal(false);
  });

  it("is looked for from the place at which an earlier process stopped", async () => {
    for (let at = 0; at < 2_500; at++) await put(String(at));
    time += 91 * DAY_MS;
    for (let processes = 0; processes < 2; processes++) await createOldWork({ store, now: () => time })();
    for (const name of ["0", "2499"]) expect(await isWhole(name), name).to.equal(false);
  });

  it("is deleted by a running seller, after the time that it was given", async () => {
    const wallet = newWallet();
    const deleted = Promise.withResolvers<string>();
    const own = sellerStore(store, wallet.address);
    await own.put(`job/${idOf("A")}`, jobOf("A"));
    time += DAY_MS;
    const seller = await createSeller({
      account: wallet.account,
      endpoint: "https://seller.example",
      baseUrl: "https://node.example",
      network: { chainId: 31_337, token: wallet.address, name: "USD Coin", version: "2" },
      facilitator: "https://facilitator.example",
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 1_000 }],
      handlers: { [MEAN]: mean },
      store: {
        ...store,
        put: async (key, value) => {
          await store.put(key, value);
          if ((value as Job).forgottenAt !== undefined) deleted.resolve(key);
        },
      },
      ...{ leaseMs: 10, keepWorkMs: DAY_MS, now: () => time },
    });
    await seller.resume();
    expect(await deleted.promise).to.contain(idOf("A"));
    await seller.close();
  });
});
