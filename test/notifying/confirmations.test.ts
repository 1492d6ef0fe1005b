import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import type { Subscription } from "../../services/notifying/notifierNode.ts";
import type { Post } from "../../services/notifying/post.ts";
import {
  NOW,
  nodeOf,
  openTestNotifier,
  receiver,
  step,
  subscription,
  type TestNode,
} from "./support/testNotifier.ts";

describe("the confirmation of an address for notices", () => {
  it("asks an address again if its subscription ended and began again, and accepts only a successful answer with the challenge", async () => {
    const store = memoryStore();
    const { post, taken } = receiver();
    const it = subscription("https://a.example/n");
    const failing: Post = async (message, signal) => ({ ...(await post(message, signal)), status: 500 });
    await openTestNotifier({ node: nodeOf([step()], [it]), post: failing, store }).round();
    for (const text of [JSON.stringify({ challenge: "0".repeat(32) }), "0".repeat(32), "{}", ""]) {
      await openTestNotifier({
        node: nodeOf([step()], [it]),
        post: async () => ({ status: 200, text }),
        store,
      }).round();
    }
    expect([...taken, ...(await store.keys("confirmed"))]).to.deep.equal([]);
    await openTestNotifier({ node: nodeOf([], [it]), post, store }).round();
    expect(await store.keys("confirmed")).to.have.length(1);
    await openTestNotifier({ node: nodeOf([], [{ ...it, since: it.since + 1 }]), post, store }).round();
    expect(await store.keys("confirmed")).to.have.length(2);
  });

  it("sends nothing to an address that did not confirm", async () => {
    const sent: string[] = [];
    const deaf: Post = async ({ text, url }) => {
      sent.push(`${JSON.parse(text).type} ${url}`);
      return { status: 200, text: "hello" };
    };
    const clock = { ms: NOW * 1_000 };
    const notifier = openTestNotifier({
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
    const notifier = openTestNotifier({ node, post, clock });
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
    await openTestNotifier({ node: nodeOf([], [known]), post: receiver().post, store }).round();
    const keys = await store.keys("confirmed");
    expect(keys).to.have.length(20_000);
    expect(keys).to.include(`confirmed/${known.id}-1`);
    expect(keys.filter((key) => Number(key.slice(key.lastIndexOf("-") + 1)) > NOW + 5)).to.have.length(
      19_999,
    );
  });

  it("is not asked for again by a notifier that lost its folder, if settlement knows of it", async () => {
    const known = { ...subscription("https://a.example/n"), isConfirmed: true };
    const unknown = { ...subscription("https://b.example/n", 2), isConfirmed: false };
    const sent: string[] = [];
    const post: Post = async ({ url, isRead = false }) => {
      sent.push(`${isRead ? "question" : "notice"} ${url}`);
      return { status: 200, text: "" };
    };
    await openTestNotifier({ node: nodeOf([step()], [known, unknown]), post }).round();
    expect(sent).to.deep.equal(["question https://b.example/n", "notice https://a.example/n"]);
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
    const notifier = openTestNotifier({ node, ...receiver() });
    for (let n = 0; n < 3; n++) await notifier.round();
    expect(told).to.deep.equal([[], [kept.id], []]);
  });
});
