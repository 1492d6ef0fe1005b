import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import { createChainClock } from "../../services/notifying/chainClock.ts";
import type { Subscription } from "../../services/notifying/notifierNode.ts";
import { createOutbox } from "../../services/notifying/outbox.ts";
import type { Post } from "../../services/notifying/post.ts";
import {
  AGENT,
  KEY,
  NOW,
  nodeOf,
  openTestNotifier,
  step,
  subscription,
  type TestNode,
} from "./support/testNotifier.ts";

describe("a sender of notices to many hosts", () => {
  it("does not let receivers that hang delay the notices of other receivers", async () => {
    const order: string[] = [];
    const hanging = Array.from({ length: 40 }, (_, n) => subscription(`https://h${n}.example/`, n + 2));
    const post: Post = async ({ text, isRead, url }) => {
      if (isRead) return { status: 200, text: JSON.parse(text).body.challenge };
      order.push(url);
      if (url !== "https://good.example/") throw new Error("late");
      return { status: 200, text: "" };
    };
    const clock = { ms: NOW * 1_000 };
    const store = memoryStore();
    await openTestNotifier({ node: nodeOf([step()], hanging), post, store, clock }).round();
    order.length = 0;
    clock.ms += 60_000;
    const all = [...hanging, subscription("https://good.example/")];
    const second = step({ breach: `brch_${"C".repeat(26)}` });
    const node = { ...nodeOf([second], all), stepsFrom: async () => ({ steps: [second], finalBlock: 11 }) };
    await openTestNotifier({ node, post, store, clock }).round();
    expect(order.indexOf("https://good.example/")).to.be.below(41);
  });

  it("sends new notices last to receivers that failed lately", async () => {
    const order: string[] = [];
    const hanging = Array.from({ length: 40 }, (_, n) => subscription(`https://h${n}.example/`, n + 1));
    const post: Post = async ({ text, isRead, url }) => {
      if (isRead) return { status: 200, text: JSON.parse(text).body.challenge };
      order.push(url);
      if (url !== "https://good.example/") throw new Error("late");
      return { status: 200, text: "" };
    };
    const told = { steps: [step()], subscriptions: hanging };
    const node: TestNode = {
      stepsFrom: async () => ({ steps: told.steps, finalBlock: 10 }),
      subscriptions: async () => told.subscriptions,
    };
    const clock = { ms: NOW * 1_000 };
    const notifier = openTestNotifier({ node, post, clock });
    await notifier.round();
    expect(order).to.have.length(40);
    order.length = 0;
    clock.ms += 10_000;
    told.steps = [step({ breach: `brch_${"C".repeat(26)}` })];
    told.subscriptions = [...hanging, subscription("https://good.example/", 99)];
    await notifier.round();
    expect(order[0]).to.equal("https://good.example/");
    expect(order).to.have.length(41);
  });

  it("sends a notice within a minute and a half while many hosts of one site hang", async () => {
    const [hostile, honest] = [`0x${"c3".repeat(20)}`, AGENT] as [Address, Address];
    const clock = { ms: NOW * 1_000 };
    const told = [step({ agent: hostile })];
    let [breachAt, sentAt] = [0, 0];
    const post: Post = async ({ text, isRead, url }) => {
      if (isRead) return { status: 200, text: JSON.parse(text).body.challenge };
      if (url === "https://good.example/") {
        sentAt = clock.ms;
        return { status: 200, text: "" };
      }
      // The honest buyer's agent breaches its SLA just after the round began to send.
      if (breachAt === 0) {
        breachAt = clock.ms;
        told.push(step({ agent: honest }));
      }
      // Sixteen hosts at the same time need ten seconds each.
      clock.ms += 10_000 / 16;
      throw new Error("late");
    };
    const subscriptions: Subscription[] = Array.from({ length: 160 }, (_, n) => ({
      ...subscription(`https://h${n}.evil.example/`, n + 1),
      agents: [hostile],
    }));
    subscriptions.push(subscription("https://good.example/", 999));
    const store = memoryStore();
    for (const { id, since } of subscriptions) await store.put(`confirmed/${id}-${since}`, { at: NOW });
    const node = {
      ...nodeOf([], subscriptions),
      stepsFrom: async () => ({ steps: [...told], finalBlock: 10 }),
    };
    const notifier = openTestNotifier({ node, post, clock, store });
    for (let round = 0; round < 30 && sentAt === 0; round++, clock.ms += 30_000) await notifier.round();
    expect(sentAt).to.be.above(0);
    expect(sentAt - breachAt).to.be.below(90_000);
    // The rest of the first notices follows.
    for (let round = 0; round < 4; round++, clock.ms += 30_000) await notifier.round();
    const attempts: number[] = [];
    for (const key of await store.keys("waiting"))
      attempts.push((await store.get<{ attempts: number }>(key))?.attempts ?? 0);
    expect(attempts).to.have.length(160);
    expect(Math.min(...attempts)).to.be.above(0);
  });

  it("sends to at most four hosts at the same time that failed or answered slowly, even hours ago", async () => {
    const clock = { ms: NOW * 1_000 };
    const isSlow = (url: string) => Number(/\d+/.exec(url)?.[0]) % 3 === 0;
    const order: string[] = [];
    let [active, most] = [0, 0];
    const post: Post = async ({ text, isRead, url }) => {
      if (isRead) return { status: 200, text: JSON.parse(text).body.challenge };
      order.push(url);
      if (url === "https://good.example/") return { status: 200, text: "" };
      most = Math.max(most, ++active);
      // Other messages begin now, if they do not have to wait for this one.
      await new Promise(setImmediate);
      active--;
      if (!isSlow(url)) throw new Error("late");
      clock.ms += 3_000;
      return { status: 200, text: "" };
    };
    const bad = Array.from({ length: 24 }, (_, n) => subscription(`https://h${n}.example/`, n + 1));
    const told = { steps: [step()], subscriptions: bad };
    const node: TestNode = {
      stepsFrom: async () => ({ steps: told.steps, finalBlock: 10 }),
      subscriptions: async () => told.subscriptions,
    };
    const store = memoryStore();
    const notifier = openTestNotifier({ node, post, clock, store });
    await notifier.round();
    expect(order).to.have.length(24);
    order.length = 0;
    for (const key of await store.keys("waiting")) await store.delete(key);
    clock.ms += 2 * 3_600_000;
    most = 0;
    told.steps = [step({ breach: `brch_${"C".repeat(26)}` })];
    told.subscriptions = [...bad, subscription("https://good.example/", 99)];
    await notifier.round();
    expect(order).to.have.length(25);
    expect(most).to.equal(4);
    expect(order.indexOf("https://good.example/")).to.be.below(5);
  });

  it("stores no endless list of notices of one host, and always those of other hosts", async () => {
    const store = memoryStore();
    const opened = () =>
      createOutbox({
        ...{ store, account: privateKeyToAccount(KEY), most: 4 },
        ledger: async () => "local",
        clock: createChainClock(() => NOW),
      });
    const of = (n: number) => step({ breach: `brch_${"D".repeat(24)}${n}` });
    const [evil, honest] = [subscription("https://evil.example/"), subscription("https://b.example/", 2)];
    const outbox = opened();
    const found: string[] = [];
    for (let n = 10; n < 20; n++) found.push(await outbox.add(of(n), evil));
    expect(found).to.deep.equal([...Array(8).fill("new"), "full", "full"]);
    expect(await outbox.add(of(10), evil)).to.equal("known");
    expect(await outbox.add(of(10), honest)).to.equal("new");
    const next = opened();
    expect(await next.add(of(18), evil)).to.equal("full");
    for (const notice of await next.waiting())
      if (notice.host === "evil.example") await next.end(notice, "given_up");
    expect(await next.waiting()).to.have.length(1);
    expect(await next.add(of(18), evil)).to.equal("new");
  });
});
