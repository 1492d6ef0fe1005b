import { expect } from "chai";
import { noticeId } from "tallystick-protocol/notices/notice";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import { createChainClock } from "../../services/notifying/chainClock.ts";
import { createNotifier } from "../../services/notifying/notifier.ts";
import { createOutbox } from "../../services/notifying/outbox.ts";
import type { Post } from "../../services/notifying/post.ts";
import {
  KEY,
  NOW,
  nodeOf,
  openTestNotifier,
  receiver,
  step,
  subscription,
  type TestNode,
} from "./support/testNotifier.ts";

describe("a sender of notices whose clock or node has the wrong time", () => {
  it("tries again soon if its clock was far ahead at the last attempt", async () => {
    const clock = { ms: NOW * 1_000 };
    const store = memoryStore();
    const { post, taken } = receiver((attempt) => (attempt === 0 ? "500" : null));
    const node = nodeOf([step()], [subscription("https://a.example/n")]);
    await openTestNotifier({ node, post, store, clock }).round();
    // The stored time of the next attempt is a year away.
    for (const key of await store.keys("waiting")) {
      const notice = await store.get<object>(key);
      await store.put(key, { ...notice, nextAt: NOW + 31_536_000, giveUpAt: NOW + 31_795_200 });
    }
    await openTestNotifier({ node, post, store, clock }).round();
    expect(taken).to.have.length(1);
  });

  it("gives up no notice, announces every step and forgets nothing if its clock is days ahead in one round", async () => {
    const store = memoryStore();
    const clock = { ms: NOW * 1_000 };
    const logged: string[] = [];
    const told = { steps: [step()], finalBlock: 10 };
    let isReachable = true;
    const node: TestNode = {
      subscriptions: async () => [subscription("https://a.example/n")],
      stepsFrom: async (from) => {
        if (!isReachable) throw new Error("unreachable");
        return { ...told, steps: from > told.finalBlock ? [] : told.steps, time: NOW };
      },
    };
    const sent = { how: "delivered", at: NOW - 86_400 };
    await store.put("sent/ntc_earlier", sent);
    const { post, taken } = receiver((attempt) => (attempt < 3 ? "500" : null));
    const notifier = openTestNotifier({ node, post, store, clock, logged });
    await notifier.round();
    // The clock is wrong in this round. There is a new step in the meantime, which seems to be old.
    clock.ms = (NOW + 40 * 86_400) * 1_000;
    const second = step({ step: "confirmed", time: NOW - 30 });
    Object.assign(told, { steps: [second], finalBlock: 11 });
    await notifier.round();
    expect(notifier.state()).to.include({ givenUp: 0, waiting: 1, isClockDoubtful: true });
    expect(logged.filter((it) => it.includes("clock"))).to.have.length(1);
    // A process that starts with a wrong clock, while no node answers, gives nothing up either.
    isReachable = false;
    const next = openTestNotifier({ node, post, store, clock });
    await next.round();
    expect(next.state()).to.include({ givenUp: 0, waiting: 1 });
    isReachable = true;
    clock.ms = (NOW + 600) * 1_000;
    for (let n = 0; n < 3; n++, clock.ms += 600_000) await next.round();
    expect(next.state()).to.include({ givenUp: 0, isClockDoubtful: false });
    const ids = [step(), second].map((it) =>
      noticeId({ ...it, subscription: subscription("https://a.example/n").id }),
    );
    expect(taken).to.have.members(ids).and.to.have.length(2);
    expect(await store.get("sent/ntc_earlier")).to.deep.equal(sent);
  });

  it("announces what is new by both clocks while its node is days behind, and nothing that is old", async () => {
    const store = memoryStore();
    const { post, taken } = receiver();
    const known = { ...subscription("https://a.example/n"), since: 0 };
    const late = step({ time: NOW - 3 * 86_400 });
    const old = step({ breach: `brch_${"B".repeat(26)}`, time: NOW - 8 * 86_400 });
    const told = { steps: [old, late], finalBlock: 10, time: NOW - 2 * 86_400 };
    const asked: number[] = [];
    const node: TestNode = {
      subscriptions: async () => [known],
      stepsFrom: async (from) => {
        asked.push(from);
        return { ...told, steps: from > told.finalBlock ? [] : told.steps };
      },
    };
    const notifier = openTestNotifier({ node, post, store });
    await notifier.round();
    await notifier.round();
    const ids = [noticeId({ ...late, subscription: known.id })];
    expect(taken).to.deep.equal(ids);
    expect(notifier.state()).to.include({ isClockDoubtful: true });
    // By the node's time the first step is news. So it is read until it is certain which clock is right.
    Object.assign(told, { time: NOW });
    await notifier.round();
    await notifier.round();
    expect(taken).to.deep.equal(ids);
    expect(asked).to.deep.equal([0, 0, 0, 11]);
  });

  it("counts a left-out notice once, although it reads the step again while its node is days behind", async () => {
    const store = memoryStore();
    const known = { ...subscription("https://a.example/n"), since: 0 };
    const old = step({ breach: `brch_${"B".repeat(26)}`, time: NOW - 8 * 86_400 });
    const told = { steps: [old, step()], finalBlock: 10, time: NOW - 2 * 86_400 };
    const clock = createChainClock(() => NOW);
    const ledger = async () => "local" as const;
    const notifier = createNotifier({
      ...{ ...receiver(), store, clock, roundMs: 1_000, now: () => NOW * 1_000, log: () => {} },
      node: { subscriptions: async () => [known], stepsFrom: async () => told },
      outbox: {
        ...createOutbox({ store, account: privateKeyToAccount(KEY), ledger, clock }),
        add: async () => "full",
      },
      confirmations: { confirmed: async (all) => [...all] },
    });
    const counts: number[] = [];
    for (const time of [told.time, told.time, NOW]) {
      told.time = time;
      await notifier.round();
      counts.push(notifier.state().givenUp);
    }
    expect(counts).to.deep.equal([0, 0, 1]);
  });

  it("tries a notice for three days also if its clock was days behind when the step came", async () => {
    const store = memoryStore();
    const clock = { ms: (NOW - 40 * 86_400) * 1_000 };
    const known = { ...subscription("https://a.example/n"), since: 0 };
    const late = receiver();
    const node: TestNode = {
      ...nodeOf([], [known]),
      stepsFrom: async () => ({ steps: [step()], finalBlock: 10, time: NOW }),
    };
    await openTestNotifier({ node, post: receiver(() => "500").post, store, clock }).round();
    clock.ms = (NOW + 86_400) * 1_000;
    await openTestNotifier({ node: nodeOf([], [known]), post: late.post, store, clock }).round();
    expect(late.taken).to.have.length(1);
  });

  it("deletes its notes about sent notices and failed receivers in time, also if its clock was far ahead", async () => {
    const store = memoryStore();
    // Its clock and the chain's clock are far ahead.
    const clock = { ms: (NOW + 400 * 86_400) * 1_000 };
    const order: string[] = [];
    const isUp = new Map([["https://b.example/", true]]);
    const post: Post = async ({ text, isRead, url }) => {
      if (isRead) return { status: 200, text: JSON.parse(text).body.challenge };
      order.push(url);
      return { status: isUp.get(url) === true ? 200 : 500, text: "" };
    };
    const told = [step({ time: clock.ms / 1_000 })];
    const [first, second] = [subscription("https://a.example/"), subscription("https://b.example/", 2)];
    const subscriptions = [first];
    const node: TestNode = {
      stepsFrom: async () => ({ steps: told, finalBlock: 10 }),
      subscriptions: async () => subscriptions,
    };
    const notifier = openTestNotifier({ node, post, store, clock });
    await notifier.round();
    expect(order).to.deep.equal(["https://a.example/"]);
    // The clock is right again. The last failure of the first receiver seems to be in the future, and this receiver has
    // not failed since.
    clock.ms = NOW * 1_000;
    for (const key of await store.keys("waiting")) await store.delete(key);
    subscriptions.push(second);
    told.splice(0, 1, step());
    isUp.set("https://a.example/", true);
    order.length = 0;
    await notifier.round();
    expect(order).to.deep.equal(["https://a.example/", "https://b.example/"]);
    expect(await store.keys("sent")).to.have.length(2);
    clock.ms = (NOW + 31 * 86_400) * 1_000;
    await notifier.round();
    expect(await store.keys("sent")).to.have.length(0);
  });

  it("asks an address again in time if its clock was far ahead when it asked", async () => {
    const clock = { ms: (NOW + 400 * 86_400) * 1_000 };
    let asked = 0;
    const deaf: Post = async () => {
      asked++;
      return { status: 200, text: "" };
    };
    const notifier = openTestNotifier({
      node: nodeOf([], [subscription("https://a.example/n")]),
      post: deaf,
      clock,
    });
    await notifier.round();
    clock.ms = NOW * 1_000;
    await notifier.round();
    expect(asked).to.equal(2);
  });

  it("reads no block twice while its node is days behind, if all steps are new by both clocks", async () => {
    const asked: number[] = [];
    const node: TestNode = {
      subscriptions: async () => [subscription("https://a.example/n")],
      stepsFrom: async (from) => {
        asked.push(from);
        return { steps: from > 10 ? [] : [step()], finalBlock: 10, time: NOW - 2 * 86_400 };
      },
    };
    const notifier = openTestNotifier({ node, ...receiver() });
    for (let n = 0; n < 2; n++) await notifier.round();
    expect(notifier.state()).to.include({ isClockDoubtful: true });
    expect(asked).to.deep.equal([0, 11]);
  });
});
