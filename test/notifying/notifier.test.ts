import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { noticeId } from "tallystick-protocol/notices/notice";
import { readNotice } from "tallystick-sdk/notices/readNotice";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import { createChainClock } from "../../services/notifying/chainClock.ts";
import { createOutbox } from "../../services/notifying/outbox.ts";
import type { Post } from "../../services/notifying/post.ts";
import { endAtEveryWrite } from "../support/endAtEveryWrite.ts";
import {
  AGENT,
  BUYER,
  KEY,
  NOW,
  nodeOf,
  openTestNotifier,
  receiver,
  SENDER,
  step,
  subscription,
  type TestNode,
} from "./support/testNotifier.ts";

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
    for (let round = 0; round < 3; round++) await openTestNotifier({ node, post: noting, store }).round();
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
    await openTestNotifier({ node: nodeOf(steps, [known]), post, store }).round();
    await store.delete("feed/place");
    await openTestNotifier({ node: nodeOf(steps, [known]), post, store }).round();
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
      await openTestNotifier({ node, post, store }).round();
    }
    expect(asked).to.deep.equal([0, 11, 11, 12]);
    const wanted = happened.map(({ it }) => noticeId({ ...it, subscription: early.id }));
    expect(taken).to.have.members(wanted).and.to.have.length(4);
  });

  it("goes on although files of its store are damaged: it sends what is new, and nothing twice", async () => {
    const store = memoryStore();
    const damaged = new Set<string>();
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (damaged.has(key)) throw new TallystickError({ code: "unreadable_value", message: key });
      return await store.get<T>(key);
    };
    const put: KeyValueStore["put"] = async (key, value) => {
      damaged.delete(key);
      await store.put(key, value);
    };
    const known = subscription("https://a.example/n");
    const steps = [step()];
    const { post, taken } = receiver();
    await openTestNotifier({ node: nodeOf(steps, [known]), post, store }).round();
    await store.put("waiting/ntc_damaged", {});
    for (const folder of ["feed", "sent", "confirmed", "waiting"])
      for (const key of await store.keys(folder)) damaged.add(key);
    const second = step({ step: "confirmed" });
    steps.push(second);
    const logged: string[] = [];
    const given = { node: nodeOf(steps, [known]), post, store: { ...store, get, put }, logged };
    const notifier = openTestNotifier(given);
    for (let round = 0; round < 2; round++) await notifier.round();
    expect(notifier.state()).to.include({ failures: 0, delivered: 1 });
    expect(taken).to.deep.equal([step(), second].map((it) => noticeId({ ...it, subscription: known.id })));
    expect([...damaged].map((key) => key.split("/")[0])).to.have.members(["sent", "waiting"]);
    expect(logged.filter((line) => line.includes("waiting/ntc_damaged"))).to.have.length(1);
  });

  it("looks at a part of its notes about sent notices at a time, and forgets all that are old", async () => {
    const store = memoryStore();
    const note = (name: string, days: number) =>
      store.put(`sent/ntc_${name}`, { how: "delivered", at: NOW - days * 86_400 });
    for (let n = 0; n < 5_000; n++) await note(String(n), 31);
    let read = 0;
    const get = async <T>(key: string): Promise<T | undefined> => {
      read++;
      return await store.get<T>(key);
    };
    const clock = createChainClock(() => NOW);
    clock.note(NOW);
    const account = privateKeyToAccount(KEY);
    const ledger = async () => "local" as const;
    const outbox = createOutbox({ store: { ...store, get }, account, ledger, clock });
    for (const [looks, left] of [
      [2_000, 3_000],
      [4_000, 1_000],
      [5_000, 0],
    ]) {
      await outbox.forget();
      expect([read, (await store.keys("sent")).length]).to.deep.equal([looks, left]);
    }
    await note("young", 29);
    await outbox.forget();
    expect(await store.keys("sent")).to.deep.equal(["sent/ntc_young"]);
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
      await openTestNotifier({ node: nodeOf([step()], [it]), post, store, clock }).round();
      expect(await store.keys("sent"), `after ${days} days`).to.have.length(sent);
    }
    expect(taken).to.have.length(1);
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
      await openTestNotifier({ node, post: receiver(() => "before").post, store, clock }).round();
      for (let hour = 0; hour < hours; hour++, clock.ms += 3_600_000)
        await openTestNotifier({ node: nodeOf([], []), post: late.post, store, clock }).round();
      expect(late.taken).to.deep.equal([]);
      const again = nodeOf([], [{ ...it, since }]);
      const deaf: Post = async () => ({ status: 200, text: "" });
      if (since !== it.since) await openTestNotifier({ node: again, post: deaf, store, clock }).round();
      // Only a confirmed address gets the notice. The last request to confirm the address was a minute ago.
      clock.ms += 60_000;
      await openTestNotifier({ node: again, post: late.post, store, clock }).round();
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
    const notifier = openTestNotifier({
      node: nodeOf([step()], [subscription("https://a.example/n")]),
      post,
      clock,
    });
    for (let minute = 0; minute < 4 * 24 * 60; minute += 10, clock.ms += 600_000) await notifier.round();
    expect(attempts).to.be.within(8, 12);
    expect(notifier.state()).to.include({ givenUp: 1, delivered: 0 });
  });

  it("sends every notice even if its process ends at any write, and repeats no acknowledged notice", async () => {
    const writes = await endAtEveryWrite({
      open: async () => ({ store: memoryStore(), ...receiver((attempt) => (attempt === 1 ? "500" : null)) }),
      run: async ({ store, post }, process) => {
        const steps = [step(), step({ step: "confirmed" })];
        const known = [subscription("https://a.example/n"), subscription("https://b.example/n", 2)];
        const node = nodeOf(steps, known);
        await openTestNotifier({
          node,
          store: process.store(store),
          post: process.cut(post) as Post,
        }).round();
      },
      resume: async ({ store, post }) => {
        const steps = [step(), step({ step: "confirmed" })];
        const known = [subscription("https://a.example/n"), subscription("https://b.example/n", 2)];
        const clock = { ms: NOW * 1_000 };
        for (let n = 0; n < 4; n++, clock.ms += 600_000)
          await openTestNotifier({ node: nodeOf(steps, known), store, post, clock }).round();
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

  it("notes a notice whose subscription did not come back as withdrawn, and not as given up", async () => {
    const [clock, store] = [{ ms: NOW * 1_000 }, memoryStore()];
    const node = nodeOf([step()], [subscription("https://a.example/n")]);
    await openTestNotifier({ node, post: receiver(() => "before").post, store, clock }).round();
    clock.ms += 73 * 3_600_000;
    const later = openTestNotifier({ node: nodeOf([], []), post: receiver().post, store, clock });
    await later.round();
    expect(later.state()).to.include({ givenUp: 0 });
    const [key = ""] = await store.keys("sent");
    expect(await store.get(key)).to.include({ how: "withdrawn" });
  });
});
