import { expect } from "chai";
import { createCallbacks } from "tallystick-sdk/seller/callbacks";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";

describe("the callbacks of a seller", () => {
  it("repeat at most eight messages to one host at the same time, and all messages to others", async () => {
    const [MANY, ALL] = [20, 21];
    const store = memoryStore();
    const asked = new Map<string, number>();
    let givenUp = 0;
    const [allAsked, allEnded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const callbacks = createCallbacks({
      ...{ account: privateKeyToAccount(`0x${"51".repeat(32)}`), store, retryMs: 0 },
      fetch: async (url) => {
        const { host } = new URL(url);
        asked.set(host, (asked.get(host) ?? 0) + 1);
        if ([...asked.values()].reduce((sum, n) => sum + n, 0) === ALL) allAsked.resolve();
        await allAsked.promise;
        return new Response("", { status: 500 });
      },
      log: () => {
        if (++givenUp === ALL) allEnded.resolve();
      },
    });
    for (let n = 0; n < ALL; n++) {
      const callbackUrl = n < MANY ? `https://victim.example/${n}` : "https://buyer.example/done";
      const job = { id: `job-${n}`, callbackUrl, stage: "failed", failure: { code: "x", message: "no" } };
      await store.put(`job/job-${n}`, job);
      await callbacks.note(job as never);
      await callbacks.tell(job as never);
    }
    await allEnded.promise;
    expect(Object.fromEntries(asked)).to.deep.equal({
      "victim.example": MANY + 8 * 7,
      "buyer.example": 8,
    });
    expect(await store.keys("callback")).to.deep.equal([]);
    await callbacks.close();
  });
});
