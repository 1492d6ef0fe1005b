import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { noticeId } from "tallystick-protocol/notices/notice";
import { readNotice } from "tallystick-sdk/notices/readNotice";
import { ServiceError } from "tallystick-sdk/requestService";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import { createChainClock } from "../../services/notifying/chainClock.ts";
import { createHttpNode } from "../../services/notifying/httpNode.ts";
import { createNotifier } from "../../services/notifying/notifier.ts";
import type { BreachStep, NotifierNode, Subscription } from "../../services/notifying/notifierNode.ts";
import { openNotifier } from "../../services/notifying/openNotifier.ts";
import { createOutbox } from "../../services/notifying/outbox.ts";
import { createPost, type Post } from "../../services/notifying/post.ts";
import { runNotifier } from "../../services/notifying/runNotifier.ts";
import { endAtEveryWrite } from "../support/endAtEveryWrite.ts";
import { suiteFolder } from "../support/suiteFolder.ts";

const KEY = `0x${"61".repeat(32)}` as const;
const SENDER = privateKeyToAccount(KEY).address.toLowerCase() as Address;
const [AGENT, BUYER] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as [Address, Address];
const NOW = 1_767_225_600;
const BREACH = `brch_${"A".repeat(26)}`;

const step = (change: Partial<BreachStep> = {}): BreachStep => ({
  ...{ agent: AGENT, breach: BREACH, step: "detected", record: null, time: NOW - 60 },
  ...{ metric: "uptime", window_days: 7, target: "0.99", breach_threshold: "0.95", value: "0.9" },
  penalty: { type: "temporary_suspension", duration: "7 days" },
  suspension: null,
  ...change,
});
const subscription = (url: string, n = 1): Subscription => ({
  ...{ id: `nsub_${String(n).padStart(26, "0")}`, buyer: BUYER, url, agents: [AGENT], since: NOW - 3_600 },
});

/** A node without a time of its own: the time of its last tick is always the time of the sender's clock. */
type TestNode = Pick<NotifierNode, "subscriptions"> & {
  stepsFrom: (
    ...asked: Parameters<NotifierNode["stepsFrom"]>
  ) => Promise<{ steps: BreachStep[]; finalBlock: number; time?: number | null }>;
};

/** A node that reports these steps, all in block 10, and these subscriptions. */
const nodeOf = (steps: BreachStep[], subscriptions: Subscription[]): TestNode => ({
  stepsFrom: async (block) => ({ steps: block > 10 ? [] : steps, finalBlock: 10 }),
  subscriptions: async () => subscriptions,
});

type Setup = {
  node: TestNode;
  post: Post;
  store?: KeyValueStore;
  clock?: { ms: number };
  logged?: string[];
};
const open = ({ node, post, store = memoryStore(), clock = { ms: NOW * 1_000 }, logged = [] }: Setup) =>
  openNotifier({
    config: {
      ...{ nodeUrl: "http://node.test", privateKey: KEY, folder: "", host: "", port: 0 },
      ...{ roundMs: 1_000, devMode: false },
    },
    log: (sentence, fields) => logged.push(`${sentence} ${fields?.reason ?? fields?.error ?? ""}`),
    now: () => clock.ms,
    ledger: "local",
    node: {
      ...node,
      stepsFrom: async (...asked) => ({
        time: Math.floor(clock.ms / 1_000),
        ...(await node.stepsFrom(...asked)),
      }),
    },
    ...{ post, store },
  });

/** A receiver that confirms its address and stores the ids of notices. `fails` says which attempts fail, and how. */
function receiver(fails: (attempt: number) => "before" | "after" | "500" | null = () => null) {
  const taken: string[] = [];
  let attempts = 0;
  const post: Post = async ({ text, isRead }) => {
    const { body } = JSON.parse(text);
    if (isRead) return { status: 200, text: JSON.stringify({ challenge: body.challenge }) };
    const how = fails(attempts++);
    if (how === "before") throw new Error("connection refused");
    if (how === "500") return { status: 500, text: "" };
    taken.push(body.id);
    if (how === "after") throw new Error("connection reset");
    return { status: 204, text: "" };
  };
  return { post, taken };
}

describe("a sender of notices", () => {
  it("sends each step once to the buyers that subscribed to the agent, with a signature that the receiver can check", async () => {
    const texts: string[] = [];
    const { post } = receiver();
    const node = nodeOf(
      [
        step(),
        step({ step: "confirmed", suspension: { from: NOW, until: NOW + 10 } }),
        step({ agent: BUYER }),
      ],
      [subscription("https://a.example/n")],
    );
    const store = memoryStore();
    const noting: Post = async (message, signal) => {
      texts.push(message.text);
      return await post(message, signal);
    };
    for (let round = 0; round < 3; round++) await open({ node, post: noting, store }).round();
    const notices = texts.slice(1).map((text) => readNotice(text, { sender: SENDER, buyer: BUYER }));
    expect(notices.map((it) => it.step)).to.have.members(["detected", "confirmed"]);
    expect(notices.find((it) => it.step === "confirmed")?.suspension).to.deep.equal({
      from: NOW,
      until: NOW + 10,
    });
    const forged = (texts[1] as string).replace("detected", "overturned").replace("confirmed", "overturned");
    expect(() => readNotice(forged, { sender: SENDER, buyer: BUYER })).to.throw();
    expect(() => readNotice(texts[1] as string, { sender: AGENT, buyer: BUYER })).to.throw();
    expect(() => readNotice(texts[1] as string, { sender: SENDER, buyer: AGENT })).to.throw();
    expect(() => readNotice(texts[0] as string, { sender: SENDER, buyer: BUYER })).to.throw();
  });

  it("sends no repeated notices and no old steps after the node has indexed everything again", async () => {
    const { post, taken } = receiver();
    const store = memoryStore();
    const steps = [step(), step({ breach: `brch_${"B".repeat(26)}`, time: NOW - 8 * 86_400 })];
    const known = { ...subscription("https://a.example/n"), since: 0 };
    await open({ node: nodeOf(steps, [known]), post, store }).round();
    await store.delete("feed/place");
    await open({ node: nodeOf(steps, [known]), post, store }).round();
    expect(taken).to.deep.equal([noticeId({ ...step(), subscription: known.id })]);
  });

  it("reads every block once, continues after the last final block, and reports no step from before a subscription", async () => {
    const { post, taken } = receiver();
    const store = memoryStore();
    const asked: number[] = [];
    const happened = [9, 10, 11, 12].map((block) => ({
      block,
      it: step({ breach: `brch_${"C".repeat(24)}${block}` }),
    }));
    let finalBlock = 10;
    const early = { ...subscription("https://a.example/n"), since: NOW - 60 };
    const late = { ...subscription("https://b.example/n", 2), since: NOW - 59 };
    const node: TestNode = {
      subscriptions: async () => [early, late],
      stepsFrom: async (from) => {
        asked.push(from);
        const steps = happened
          .filter(({ block }) => block >= from && block <= finalBlock)
          .map(({ it }) => it);
        return { steps, finalBlock };
      },
    };
    for (const block of [10, 10, 11, 12]) {
      finalBlock = block;
      await open({ node, post, store }).round();
    }
    expect(asked).to.deep.equal([0, 11, 11, 12]);
    const wanted = happened.map(({ it }) => noticeId({ ...it, subscription: early.id }));
    expect(taken).to.have.members(wanted).and.to.have.length(4);
  });

  it("asks an address again if its subscription ended and began again, and accepts only a successful answer with the challenge", async () => {
    const store = memoryStore();
    const { post, taken } = receiver();
    const it = subscription("https://a.example/n");
    const failing: Post = async (message, signal) => ({ ...(await post(message, signal)), status: 500 });
    await open({ node: nodeOf([step()], [it]), post: failing, store }).round();
    for (const text of [JSON.stringify({ challenge: "0".repeat(32) }), "0".repeat(32), "{}", ""]) {
      await open({ node: nodeOf([step()], [it]), post: async () => ({ status: 200, text }), store }).round();
    }
    expect([...taken, ...(await store.keys("confirmed"))]).to.deep.equal([]);
    await open({ node: nodeOf([], [it]), post, store }).round();
    expect(await store.keys("confirmed")).to.have.length(1);
    await open({ node: nodeOf([], [{ ...it, since: it.since + 1 }]), post, store }).round();
    expect(await store.keys("confirmed")).to.have.length(2);
  });

  it("remembers sent notices for longer than a node reports their steps", async () => {
    const { post, taken } = receiver();
    const store = memoryStore();
    const clock = { ms: NOW * 1_000 };
    const it = subscription("https://a.example/n");
    for (const [days, sent] of [
      [0, 1],
      [8, 1],
      [29, 1],
      [31, 0],
    ] as const) {
      clock.ms = (NOW + days * 86_400) * 1_000;
      await open({ node: nodeOf([step()], [it]), post, store, clock }).round();
      expect(await store.keys("sent"), `after ${days} days`).to.have.length(sent);
    }
    expect(taken).to.have.length(1);
  });

  it("sends nothing to an address that did not confirm", async () => {
    const sent: string[] = [];
    const deaf: Post = async ({ text, url }) => {
      sent.push(`${JSON.parse(text).type} ${url}`);
      return { status: 200, text: "hello" };
    };
    const clock = { ms: NOW * 1_000 };
    const notifier = open({
      node: nodeOf([step()], [subscription("https://victim.example/")]),
      post: deaf,
      clock,
    });
    for (let n = 0; n < 20; n++, clock.ms += 30_000) await notifier.round();
    // The notifier asks after 0, 1, 11 and 71 minutes, and then once a day. These rounds take ten minutes.
    expect(sent).to.deep.equal([
      "notice_confirmation https://victim.example/",
      "notice_confirmation https://victim.example/",
    ]);
  });

  it("sends nothing without a subscription, and sends waiting notices when the subscription is back", async () => {
    const it = subscription("https://a.example/n");
    const node = nodeOf([step()], [it]);
    // After a take-over or a restore, settlement may have lost the subscription. The list cannot show whether it was
    // lost or cancelled. The buyer subscribes again. In the third case the notice was given up before.
    for (const [hours, since, sent] of [
      [2, it.since, 1],
      [48, NOW + 48 * 3_600, 1],
      [73, NOW + 73 * 3_600, 0],
    ] as const) {
      const [clock, store, late] = [{ ms: NOW * 1_000 }, memoryStore(), receiver()];
      await open({ node, post: receiver(() => "before").post, store, clock }).round();
      for (let hour = 0; hour < hours; hour++, clock.ms += 3_600_000)
        await open({ node: nodeOf([], []), post: late.post, store, clock }).round();
      expect(late.taken).to.deep.equal([]);
      const again = nodeOf([], [{ ...it, since }]);
      const deaf: Post = async () => ({ status: 200, text: "" });
      if (since !== it.since) await open({ node: again, post: deaf, store, clock }).round();
      // Only a confirmed address gets the notice. The last request to confirm the address was a minute ago.
      clock.ms += 60_000;
      await open({ node: again, post: late.post, store, clock }).round();
      expect(late.taken, `${hours} hours`).to.have.length(sent);
      expect(await store.keys("waiting")).to.deep.equal([]);
    }
  });

  it("tries again with longer and longer pauses, and gives up after three days", async () => {
    const clock = { ms: NOW * 1_000 };
    let attempts = 0;
    const { post } = receiver(() => {
      attempts++;
      return "500";
    });
    const notifier = open({ node: nodeOf([step()], [subscription("https://a.example/n")]), post, clock });
    for (let minute = 0; minute < 4 * 24 * 60; minute += 10, clock.ms += 600_000) await notifier.round();
    expect(attempts).to.be.within(8, 12);
    expect(notifier.state()).to.include({ givenUp: 1, delivered: 0 });
  });

  it("tries again soon if its clock was far ahead at the last attempt", async () => {
    const clock = { ms: NOW * 1_000 };
    const store = memoryStore();
    const { post, taken } = receiver((attempt) => (attempt === 0 ? "500" : null));
    const node = nodeOf([step()], [subscription("https://a.example/n")]);
    await open({ node, post, store, clock }).round();
    // The stored time of the next attempt is a year away.
    for (const key of await store.keys("waiting")) {
      const notice = await store.get<object>(key);
      await store.put(key, { ...notice, nextAt: NOW + 31_536_000, giveUpAt: NOW + 31_795_200 });
    }
    await open({ node, post, store, clock }).round();
    expect(taken).to.have.length(1);
  });

  it("asks an address again in time if its clock was far ahead when it asked", async () => {
    const clock = { ms: (NOW + 400 * 86_400) * 1_000 };
    let asked = 0;
    const deaf: Post = async () => {
      asked++;
      return { status: 200, text: "" };
    };
    const notifier = open({ node: nodeOf([], [subscription("https://a.example/n")]), post: deaf, clock });
    await notifier.round();
    clock.ms = NOW * 1_000;
    await notifier.round();
    expect(asked).to.equal(2);
  });

  it("notes a notice whose subscription did not come back as withdrawn, and not as given up", async () => {
    const [clock, store] = [{ ms: NOW * 1_000 }, memoryStore()];
    const node = nodeOf([step()], [subscription("https://a.example/n")]);
    await open({ node, post: receiver(() => "before").post, store, clock }).round();
    clock.ms += 73 * 3_600_000;
    const later = open({ node: nodeOf([], []), post: receiver().post, store, clock });
    await later.round();
    expect(later.state()).to.include({ givenUp: 0 });
    const [key = ""] = await store.keys("sent");
    expect(await store.get(key)).to.include({ how: "withdrawn" });
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
    const notifier = open({ node, post, store, clock, logged });
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
    const next = open({ node, post, store, clock });
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
    const notifier = open({ node, post, store });
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

  it("reads no block twice while its node is days behind, if all steps are new by both clocks", async () => {
    const asked: number[] = [];
    const node: TestNode = {
      subscriptions: async () => [subscription("https://a.example/n")],
      stepsFrom: async (from) => {
        asked.push(from);
        return { steps: from > 10 ? [] : [step()], finalBlock: 10, time: NOW - 2 * 86_400 };
      },
    };
    const notifier = open({ node, ...receiver() });
    for (let n = 0; n < 2; n++) await notifier.round();
    expect(notifier.state()).to.include({ isClockDoubtful: true });
    expect(asked).to.deep.equal([0, 11]);
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
    await open({ node, post: receiver(() => "500").post, store, clock }).round();
    clock.ms = (NOW + 86_400) * 1_000;
    await open({ node: nodeOf([], [known]), post: late.post, store, clock }).round();
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
    const notifier = open({ node, post, store, clock });
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
    await open({ node: nodeOf([step()], hanging), post, store, clock }).round();
    order.length = 0;
    clock.ms += 60_000;
    const all = [...hanging, subscription("https://good.example/")];
    const second = step({ breach: `brch_${"C".repeat(26)}` });
    const node = { ...nodeOf([second], all), stepsFrom: async () => ({ steps: [second], finalBlock: 11 }) };
    await open({ node, post, store, clock }).round();
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
    const notifier = open({ node, post, clock });
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
    const notifier = open({ node, post, clock, store });
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
    const notifier = open({ node, post, clock, store });
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

  /** Runs rounds in which strangers cancel and renew their subscriptions. Returns in which rounds the honest address was asked. */
  async function roundsOfHonest(
    rounds: number,
    hostile: (round: number, n: number) => Partial<Subscription>,
  ) {
    const clock = { ms: NOW * 1_000 };
    const told: { subscriptions: Subscription[] } = { subscriptions: [] };
    const node = { ...nodeOf([], []), subscriptions: async () => told.subscriptions };
    const asked: string[] = [];
    const post: Post = async ({ url }) => {
      asked.push(url);
      return { status: 500, text: "" };
    };
    const notifier = open({ node, post, clock });
    const honest = { ...subscription("https://honest.example/", 999), since: NOW };
    const found: number[] = [];
    for (let round = 0; round < rounds; round++, clock.ms += 30_000) {
      const renewed = Array.from({ length: 64 }, (_, n) => ({
        ...subscription(`https://h${n}.example/`, n + 1),
        since: NOW + round * 30,
        ...hostile(round, n),
      }));
      told.subscriptions = [...renewed, honest];
      asked.length = 0;
      await notifier.round();
      expect(asked).to.have.length.at.most(64);
      if (asked.includes(honest.url)) found.push(round);
    }
    return found;
  }

  it("asks a new address in time even if strangers renew as many subscriptions as a round asks", async () => {
    // Renewed subscriptions of the same hosts and buyers are known.
    expect((await roundsOfHonest(2, () => ({})))[0]).to.be.at.most(1);
    // New buyers and new hosts in every round are not known. But the honest address waits longest.
    const strangers = (round: number, n: number) => ({
      buyer: `0x${String(round * 64 + n).padStart(40, "0")}` as Address,
      url: `https://h${round}x${n}.example/`,
    });
    expect((await roundsOfHonest(2, strangers))[0]).to.be.at.most(1);
    // A host with many buyers gets only two questions in a round.
    const neighbours = (round: number, n: number) => ({
      ...strangers(round, n),
      url: `https://honest.example/${round}x${n}`,
    });
    expect((await roundsOfHonest(2, neighbours))[0]).to.be.at.most(1);
  });

  it("asks a new address at once if all others are of one site or one host", async () => {
    const ofSite = (_: number, n: number) => ({ url: `https://h${n}.evil.example/` });
    expect((await roundsOfHonest(1, ofSite))[0]).to.equal(0);
    const ofHost = (_: number, n: number) => ({ url: `https://evil.example/${n}` });
    expect((await roundsOfHonest(1, ofHost))[0]).to.equal(0);
  });

  it("keeps no endless list of old confirmations if strangers renew their subscriptions", async () => {
    const store = memoryStore();
    const known = { ...subscription("https://a.example/n"), since: 1 };
    await store.put(`confirmed/${known.id}-1`, { at: NOW });
    for (let n = 0; n < 20_005; n++)
      await store.put(`confirmed/nsub_${String(n).padStart(26, "9")}-${NOW + n}`, { at: NOW });
    await open({ node: nodeOf([], [known]), post: receiver().post, store }).round();
    const keys = await store.keys("confirmed");
    expect(keys).to.have.length(20_000);
    expect(keys).to.include(`confirmed/${known.id}-1`);
    expect(keys.filter((key) => Number(key.slice(key.lastIndexOf("-") + 1)) > NOW + 5)).to.have.length(
      19_999,
    );
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

  it("tells settlement which addresses are confirmed, until settlement knows this", async () => {
    const told: string[][] = [];
    const kept = { ...subscription("https://a.example/n"), isConfirmed: false };
    const node: TestNode = {
      ...nodeOf([], []),
      subscriptions: async (_, confirmed = []) => {
        told.push(confirmed.map(({ id }) => id));
        kept.isConfirmed ||= confirmed.length > 0;
        return [{ ...kept }];
      },
    };
    const notifier = open({ node, ...receiver() });
    for (let n = 0; n < 3; n++) await notifier.round();
    expect(told).to.deep.equal([[], [kept.id], []]);
  });

  it("sends every notice even if its process ends at any write, and repeats no acknowledged notice", async () => {
    const writes = await endAtEveryWrite({
      open: async () => ({ store: memoryStore(), ...receiver((attempt) => (attempt === 1 ? "500" : null)) }),
      run: async ({ store, post }, process) => {
        const steps = [step(), step({ step: "confirmed" })];
        const known = [subscription("https://a.example/n"), subscription("https://b.example/n", 2)];
        const node = nodeOf(steps, known);
        await open({ node, store: process.store(store), post: process.cut(post) as Post }).round();
      },
      resume: async ({ store, post }) => {
        const steps = [step(), step({ step: "confirmed" })];
        const known = [subscription("https://a.example/n"), subscription("https://b.example/n", 2)];
        const clock = { ms: NOW * 1_000 };
        for (let n = 0; n < 4; n++, clock.ms += 600_000)
          await open({ node: nodeOf(steps, known), store, post, clock }).round();
      },
      check: async ({ taken, store }, at) => {
        const distinct = new Set(taken);
        expect(distinct.size, at).to.equal(4);
        // Only the notice whose answer was lost when the process ended may arrive twice, with the same id.
        expect(taken.length - distinct.size, at).to.be.below(2);
        expect(await store.keys("waiting"), at).to.deep.equal([]);
        expect(await store.keys("sent"), at).to.have.length(4);
      },
    });
    expect(writes).to.be.above(10);
  });
});

describe("a node that a sender of notices follows", () => {
  it("cannot keep the sender busy forever with empty pages of steps that name a next page", async () => {
    let asked = 0;
    const node = createHttpNode({
      ...{ baseUrl: "http://node.test", account: privateKeyToAccount(KEY), now: () => NOW },
      ledger: async () => "local",
      fetch: async () => {
        if (++asked > 3) throw new Error("the sender does not stop asking");
        return Response.json({ steps: [], next_cursor: "on", final_block: 10 });
      },
    });
    const told = await node.stepsFrom(5, new AbortController().signal);
    expect([told, asked]).to.deep.equal([{ steps: [], finalBlock: 10, time: null }, 1]);
  });

  it("tells the time of its last tick in a header", async () => {
    const timeOf = async (header: string) => {
      const node = createHttpNode({
        ...{ baseUrl: "http://node.test", account: privateKeyToAccount(KEY), now: () => NOW },
        ledger: async () => "local",
        fetch: async () => {
          const headers = { "tallystick-as-of": header };
          return Response.json({ steps: [], next_cursor: null, final_block: 10 }, { headers });
        },
      });
      return (await node.stepsFrom(5, new AbortController().signal)).time;
    };
    expect(await timeOf(`block=10, time=${NOW}, digest="0x00"`)).to.equal(NOW);
    for (const other of [`block=10, uptime=${NOW}`, "block=10, time=soon", "time=-5", ""])
      expect(await timeOf(other), other).to.equal(null);
  });

  it("hears of at most 200 confirmed addresses in a request, and only in the first one", async () => {
    const bodies: { after: string; confirmed?: object[] }[] = [];
    const pages = [
      { subscriptions: [subscription("https://a.example/n")], next: "on" },
      { subscriptions: [], next: null },
    ];
    const node = createHttpNode({
      ...{ baseUrl: "http://node.test", account: privateKeyToAccount(KEY), now: () => NOW },
      ledger: async () => "local",
      fetch: async (_, init) => {
        bodies.push(JSON.parse(String(init?.body)).body);
        return Response.json(pages[bodies.length - 1]);
      },
    });
    const confirmed = Array.from({ length: 250 }, (_, n) => subscription("https://a.example/n", n));
    await node.subscriptions(new AbortController().signal, confirmed);
    expect(bodies.map(({ after }) => after)).to.deep.equal(["", "on"]);
    expect(bodies[0]?.confirmed).to.deep.equal(
      confirmed.slice(0, 200).map(({ id, since }) => ({ id, since })),
    );
    expect(bodies[1]).to.not.have.property("confirmed");
  });

  /** A node whose answers are these texts. After the last one, it repeats the last one. */
  const answering = (textOf: (n: number) => string) => {
    const asked = { times: 0 };
    const node = createHttpNode({
      ...{ baseUrl: "http://node.test", account: privateKeyToAccount(KEY), now: () => NOW },
      ledger: async () => "local",
      fetch: async () => new Response(textOf(asked.times++)),
    });
    return { node, asked };
  };

  it("cannot keep it busy forever with pages of one block, each of which names a next page", async () => {
    const page = { steps: [{ ...step(), block: 5 }], next_cursor: "on", final_block: 10 };
    const { node, asked } = answering(() => JSON.stringify(page));
    const refused = await node.stepsFrom(5, new AbortController().signal).catch((error) => error);
    expect(refused).to.be.instanceOf(ServiceError).and.to.include({ code: "endless_block" });
    expect(asked.times).to.equal(1_000);
  });

  it("is read further in the next round if it gives many short pages of later blocks", async () => {
    const pageOf = (n: number) => ({
      steps: [{ ...step(), block: 5 + n }],
      ...{ next_cursor: "on", final_block: 9_000 },
    });
    const { node, asked } = answering((n) => JSON.stringify(pageOf(n)));
    const told = await node.stepsFrom(5, new AbortController().signal);
    // The last page was of block 1,004, perhaps not with all its steps.
    expect([told.steps.length, told.finalBlock, asked.times]).to.deep.equal([1_000, 1_003, 1_000]);
  });

  it("causes a ServiceError if its answer has another form", async () => {
    const good = { steps: [{ ...step(), block: 5 }], next_cursor: null, final_block: 10 };
    const forever = new AbortController().signal;
    const { node } = answering(() => JSON.stringify(good));
    const read = { steps: [step()], finalBlock: 10, time: null };
    expect(await node.stepsFrom(5, forever)).to.deep.equal(read);
    const known = { ...subscription("https://a.example/n"), isConfirmed: false };
    const list = answering(() => JSON.stringify({ subscriptions: [known], next: null }));
    expect(await list.node.subscriptions(forever)).to.deep.equal([known]);
    const badSteps = [{}, [null], [{ ...step(), block: "5" }], [{ ...step(), block: 5, penalty: null }]];
    const badLists = [{}, [null], [{ ...known, agents: null }], [{ ...known, url: "nowhere" }]];
    for (const text of [
      "<html>",
      "null",
      "{}",
      ...badSteps.map((steps) => JSON.stringify({ ...good, steps })),
      ...badLists.map((subscriptions) => JSON.stringify({ subscriptions, next: null })),
    ]) {
      const { node: bad } = answering(() => text);
      const questions: (() => Promise<unknown>)[] = [
        () => bad.stepsFrom(5, forever),
        () => bad.subscriptions(forever),
      ];
      for (const ask of questions) {
        const refused = await ask().catch((error) => error);
        expect(refused, text).to.be.instanceOf(ServiceError).and.to.include({ code: "unreadable_answer" });
      }
    }
  });

  it("cannot keep the sender busy forever with empty pages of subscriptions that name a next page", async () => {
    let asked = 0;
    const node = createHttpNode({
      ...{ baseUrl: "http://node.test", account: privateKeyToAccount(KEY), now: () => NOW },
      ledger: async () => "local",
      fetch: async () => {
        if (++asked > 3) throw new Error("the sender does not stop asking");
        return Response.json({ subscriptions: [], next: "on" });
      },
    });
    expect(await node.subscriptions(new AbortController().signal)).to.deep.equal([]);
    expect(asked).to.equal(1);
  });
});

describe("the connection to a receiver", () => {
  const servers: { close: () => void; closeAllConnections: () => void }[] = [];
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  const reach = { policy: { isPublic: () => true, problemOf: () => undefined } };
  const forever = new AbortController().signal;
  const message = (url: string, isRead = false) => ({ url, text: "{}", id: "x", isRead });

  it("follows no redirect, waits for no slow answer, and reads no endless body", async () => {
    let redirected = 0;
    const inside = await serve((_request, response) => {
      redirected++;
      response.end();
    });
    const post = createPost(reach);
    const redirecting = await serve((_request, response) =>
      response.writeHead(302, { location: inside }).end(),
    );
    const failed = await post(message(redirecting), forever).catch(() => "failed");
    expect([failed, redirected]).to.deep.equal(["failed", 0]);
    const slow = await serve(() => {});
    const begun = performance.now();
    expect(await createPost(reach, 300)(message(slow), forever).catch(() => "failed")).to.equal("failed");
    // Without its own limit, it would wait for ten seconds.
    expect(performance.now() - begun).to.be.below(9_000);
    const endless = await serve((_request, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write("x".repeat(65_536)), 1);
      response.on("close", () => clearInterval(more));
    });
    expect((await post(message(endless), forever)).status).to.equal(200);
    expect(await post(message(endless, true), forever).catch(() => "failed")).to.equal("failed");
  });

  it("is never to a private address, even if the receiver's name resolves to one", async () => {
    let reached = 0;
    const url = await serve((_request, response) => {
      reached++;
      response.end();
    });
    const { port } = new URL(url);
    for (const address of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"]) {
      const post = createPost({ resolve: async () => [address] });
      const failed = await post(message(`https://rebound.example:${port}/`), forever).catch(
        (error) => error.cause?.code ?? error.code,
      );
      expect(failed, address).to.equal("private_address");
    }
    const post = createPost();
    for (const target of [url, `https://127.0.0.1:${port}/`, "http://buyer.example/"])
      expect(await post(message(target), forever).catch((error) => error.code)).to.equal("private_address");
    expect(reached).to.equal(0);
  });

  it("delivers once to a real server that answers 500 and then 200", async () => {
    const bodies: string[] = [];
    let attempts = 0;
    const url = await serve((request, response) => {
      let text = "";
      request.on("data", (piece) => {
        text += piece;
      });
      request.on("end", () => {
        const { type, body } = JSON.parse(text);
        const isFirst = type !== "notice_confirmation" && ++attempts === 1;
        if (type === "notice_confirmation") response.end(body.challenge);
        else response.writeHead(isFirst ? 500 : 200).end();
        if (isFirst || type === "notice_confirmation") return;
        expect(request.headers["idempotency-key"]).to.equal(body.id);
        bodies.push(text);
      });
    });
    const clock = { ms: NOW * 1_000 };
    const node = nodeOf([step()], [subscription(url)]);
    const notifier = open({ node, post: createPost(reach), clock });
    for (let n = 0; n < 5; n++, clock.ms += 60_000) await notifier.round();
    expect(attempts).to.equal(2);
    expect(bodies.map((text) => readNotice(text, { sender: SENDER, buyer: BUYER }).step)).to.deep.equal([
      "detected",
    ]);
  });
});

describe("two senders of notices with one folder", () => {
  const folder = suiteFolder();

  it("cannot run at the same time: the second starts only after the first has ended", async () => {
    const config = {
      ...{ nodeUrl: "http://127.0.0.1:9", privateKey: KEY, folder: folder.path, host: "127.0.0.1", port: 0 },
      ...{ roundMs: 60_000, devMode: false },
    };
    const first = await runNotifier(config);
    const refused = await runNotifier(config).catch((error) => error);
    expect(refused).to.include({ code: "notifier_folder" });
    await first.close();
    await (await runNotifier(config)).close();
  });

  it("can start one after the other if the first failed to open, because the folder is free again", async () => {
    const config = {
      ...{ nodeUrl: "http://127.0.0.1:9", privateKey: KEY, folder: folder.path, host: "127.0.0.1", port: 0 },
      ...{ roundMs: 60_000, devMode: false },
    };
    const failed = await runNotifier({ ...config, privateKey: "0x12" }).catch((error) => error);
    expect(failed).to.be.instanceOf(Error).and.not.have.property("code", "notifier_folder");
    await (await runNotifier(config)).close();
  });
});
