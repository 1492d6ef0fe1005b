import { expect } from "chai";
import { clarifyLimits } from "tallystick-sdk/clarify/clarifyLimits";
import { createClarification } from "tallystick-sdk/clarify/createClarification";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { newWallet } from "../support/sdkChain.ts";
import { rejection } from "../support/tamper.ts";

const DAY = 86_400;
const NOW = 1_800_000_000;
const CAPABILITY = "custom.acme.research";

describe("the limits of clarification", () => {
  let store: KeyValueStore;
  beforeEach(() => {
    store = memoryStore();
  });

  let number = 0;
  /** One round of a buyer. Returns its name. */
  const ask = async (
    limits: ReturnType<typeof clarifyLimits>,
    { who = "buyer", now = NOW, isDecline = false }: { who?: string; now?: number; isDecline?: boolean } = {},
  ): Promise<string> => {
    const round = `0x${(++number).toString(16).padStart(16, "0")}`;
    await limits.begin({ who, round, nonce: round, capability: CAPABILITY, now });
    await limits.end({ who, round, isCounter: false, isDecline });
    return round;
  };
  const roundsOf = async (who: string) => (await store.get<unknown[]>(`clarify/${who}`)) ?? [];

  it("stop a buyer after 200 declined rounds in a day, and say when the oldest of them is a day old", async () => {
    const desk = createClarification({
      ...{ account: newWallet().account, store, capabilities: [CAPABILITY], now: () => NOW * 1_000 },
      answer: () => ({ decline: "Booked out." }),
    });
    const buyer = newWallet().address;
    const statuses: number[] = [];
    let last = new Response();
    for (let nonce = 0; nonce < 210; nonce++) {
      last = await desk.app.request("/clarify", {
        method: "POST",
        body: JSON.stringify({
          ...{ protocol: "swarmwage/v0.4", buyer_id: buyer, capability: CAPABILITY, brief: "x" },
          nonce: `0x${String(nonce).padStart(32, "0")}`,
        }),
      });
      statuses.push(last.status);
    }
    expect(statuses).to.deep.equal([...Array(200).fill(200), ...Array(10).fill(429)]);
    expect(last.headers.get("retry-after")).to.equal(String(DAY));
    expect(await last.json()).to.include({ code: "too_many_clarifications" });
    expect(await roundsOf(`unsigned-${buyer}`)).to.have.length(200);
  });

  it("stop strangers with any number of wallets after the rounds of a day, and no buyer that has hired", async () => {
    const limits = clarifyLimits({ store, maxUnaccepted: 10, maxPerDay: 5 });
    const at = Math.floor(NOW / DAY) * DAY;
    await limits.accept("customer", await ask(limits, { who: "customer", now: at }));
    for (let n = 0; n < 4; n++) await ask(limits, { who: `stranger-${n}`, now: at + n });
    const refused = await rejection(ask(limits, { who: "newcomer", now: at + 100 }));
    expect(refused).to.include({ code: "too_many_clarifications", secondsToWait: DAY - 100 });
    expect(await roundsOf("newcomer")).to.deep.equal([]);
    await ask(limits, { who: "customer", now: at + 200 });
    await ask(limits, { who: "newcomer", now: at + DAY });
  });

  it("stop unsigned requests after as many rounds of their own, which use up no round of those who sign", async () => {
    const limits = clarifyLimits({ store, maxPerDay: 5 });
    for (let n = 0; n < 5; n++) await ask(limits, { who: `unsigned-${n}` });
    expect(await rejection(ask(limits, { who: "unsigned-5" }))).to.include({
      code: "too_many_clarifications",
    });
    for (let n = 0; n < 5; n++) await ask(limits, { who: `stranger-${n}` });
    expect(await rejection(ask(limits, { who: "newcomer" }))).to.include({ code: "too_many_clarifications" });
  });

  it("do not stop a buyer whose rounds lead to hires, and keep only the latest of these rounds", async () => {
    const limits = clarifyLimits({ store, maxUnaccepted: 10 });
    for (let n = 0; n < 250; n++) await limits.accept("buyer", await ask(limits));
    expect(await roundsOf("buyer")).to.have.length.within(200, 201);
  });

  it("say when a buyer may ask again: after enough rounds are a day old, or 30 seconds after alternatives", async () => {
    const limits = clarifyLimits({ store, maxUnaccepted: 2 });
    await ask(limits, { now: NOW });
    await ask(limits, { now: NOW + 100 });
    const refused = await rejection(ask(limits, { now: NOW + 150 }));
    expect(refused).to.include({ code: "too_many_clarifications", secondsToWait: DAY - 150 });
    const of = { who: "other", round: "0x01", capability: CAPABILITY };
    await limits.begin({ ...of, nonce: "0x01", now: NOW });
    await limits.end({ ...of, isCounter: true, isDecline: false });
    const countered = await rejection(ask(limits, { who: "other", now: NOW + 10 }));
    expect(countered).to.include({ code: "countered_just_now", secondsToWait: 20 });
  });

  it("let a buyer's hire be stored while another buyer's rounds, or unsigned rounds in its name, wait for the disk", async () => {
    const slow = Promise.withResolvers<void>();
    let isSlow = false;
    const put: KeyValueStore["put"] = async (key, value) => {
      if (isSlow && key !== "clarify/buyer") await slow.promise;
      await store.put(key, value);
    };
    const limits = clarifyLimits({ store: { ...store, put }, maxUnaccepted: 10 });
    const round = await ask(limits);
    isSlow = true;
    const waiting = ["stranger", "unsigned-buyer"].flatMap((who) => [
      ask(limits, { who }),
      ask(limits, { who }),
    ]);
    await limits.accept("buyer", round);
    expect(await roundsOf("buyer")).to.deep.include.members([
      { round, nonce: round, capability: CAPABILITY, at: NOW, accepted: true, countered: false },
    ]);
    slow.resolve();
    await Promise.all(waiting);
  });

  it("keep the rounds of a buyer that asked more than a day ago and also later", async () => {
    const swept = Promise.withResolvers<void>();
    const limits = clarifyLimits({
      store: {
        ...store,
        delete: async (key) => {
          await store.delete(key);
          if (key === "clarify/last") swept.resolve();
        },
      },
      maxUnaccepted: 2,
    });
    // The store gives the keys in the order of their first rounds.
    for (const who of ["busy", "last"]) await ask(limits, { who });
    await ask(limits, { who: "busy", now: NOW + 4_000 });
    await ask(limits, { now: NOW + DAY });
    await swept.promise;
    expect(await roundsOf("busy")).to.have.length(2);
    await ask(limits, { who: "busy", now: NOW + DAY });
    const refused = await rejection(ask(limits, { who: "busy", now: NOW + DAY }));
    expect(refused).to.include({ code: "too_many_clarifications", secondsToWait: 4_000 });
  });

  it("delete what is stored of buyers that asked nothing for a day", async () => {
    const deleted = Promise.withResolvers<string>();
    const limits = clarifyLimits({
      store: {
        ...store,
        delete: async (key) => {
          await store.delete(key);
          deleted.resolve(key);
        },
      },
      maxUnaccepted: 10,
    });
    await ask(limits, { who: "old" });
    await ask(limits, { who: "recent", now: NOW + 10 });
    await store.put("clarify/unreadable", "x");
    await ask(limits, { now: NOW + DAY });
    expect(await deleted.promise).to.equal("clarify/old");
    expect(await store.keys("clarify")).to.have.members([
      "clarify/recent",
      "clarify/unreadable",
      "clarify/buyer",
    ]);
  });
});
