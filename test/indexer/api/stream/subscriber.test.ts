import { expect } from "chai";
import type { StreamMessage } from "../../../../indexer/api/stream/messages.ts";
import { carrySubscriber } from "../../../../indexer/api/stream/subscriber.ts";
import type { TimelineFeed } from "../../../../indexer/api/stream/timelineFeed.ts";
import { waitUntil } from "../../../../scripts/processes/waitUntil.ts";

const key = (n: number) => String(n).padStart(6, "0");

/** A thousand messages, and how many of them were read. */
function openFeed() {
  const messages = Array.from({ length: 1_000 }, (_, n): StreamMessage => {
    const text = `${n}`.padEnd(100, ".");
    return { position: key(n + 1), kind: "hire", subject: key(n), agent: "a", counterpart: null, text };
  });
  let read = 0;
  const feed: TimelineFeed = {
    head: () => key(1_000),
    poll: async () => {},
    resumeFrom: async (position) => position,
    subscribe: () => () => {},
    after: async (position, limit) => {
      const page = messages.filter((it) => it.position > position).slice(0, limit);
      read = Math.max(read, ...page.map((it) => Number(it.position)));
      return page;
    },
  };
  return { feed, read: () => read };
}

/** A client whose network accepts a given number of bytes. */
function openOutlet() {
  const sent: string[] = [];
  let taken = 0;
  let closed: { code: number; reason: string } | null = null;
  const size = () => sent.reduce((sum, text) => sum + text.length, 0);
  return {
    sent,
    take: (bytes: number) => {
      taken = Math.min(size(), taken + bytes);
    },
    closed: () => closed,
    outlet: {
      send: (text: string) => void sent.push(text),
      get bufferedAmount() {
        return size() - taken;
      },
      get isOpen() {
        return closed === null;
      },
      close: (code: number, reason: string) => {
        closed = { code, reason };
      },
    },
  };
}

const everything = { from: "", wants: () => true, maxBuffered: 2_000 };

describe("a client that reads slowly", () => {
  it("gets everything at its own pace, and the server reads only what fits into the client's buffer", async () => {
    const { feed, read } = openFeed();
    const client = openOutlet();
    const { stop } = carrySubscriber({ feed, outlet: client.outlet, ...everything, patienceMs: 60_000 });
    await waitUntil(async () => client.sent.length >= 21, {
      what: "the buffer to be full",
      withinMs: 120_000,
      everyMs: 5,
    });
    expect(client.sent).to.have.length(21);
    expect(read()).to.be.at.most(200);
    await waitUntil(
      async () => {
        client.take(10_000);
        return client.sent.length === 1_000;
      },
      { what: "the rest", withinMs: 120_000, everyMs: 5 },
    );
    expect(client.closed()).to.equal(null);
    stop();
  });

  it("is disconnected when it accepts nothing, with the position to resume from", async () => {
    const { feed } = openFeed();
    const client = openOutlet();
    carrySubscriber({ feed, outlet: client.outlet, ...everything, patienceMs: 100 });
    const closed = await waitUntil(async () => client.closed() ?? undefined, {
      what: "the client to be disconnected",
      withinMs: 120_000,
      everyMs: 5,
    });
    expect(closed).to.deep.equal({ code: 1013, reason: `too slow; resume from ${key(21)}` });
    expect(client.sent).to.have.length(21);
  });

  it("is told and disconnected when the database cannot be read", async () => {
    const { feed } = openFeed();
    const client = openOutlet();
    const broken = { ...feed, after: () => Promise.reject(new Error("gone")) };
    carrySubscriber({ feed: broken, outlet: client.outlet, ...everything, from: key(7), patienceMs: 100 });
    const closed = await waitUntil(async () => client.closed() ?? undefined, {
      what: "the client to be disconnected",
      withinMs: 120_000,
      everyMs: 5,
    });
    expect(closed).to.deep.equal({ code: 1011, reason: `the node could not read on; resume from ${key(7)}` });
  });

  it("goes back to the deepest of the reorgs that came while it was slow, in any order", async () => {
    for (const reorgs of [
      [5, 12],
      [12, 5],
    ]) {
      const { feed } = openFeed();
      let tell: Parameters<TimelineFeed["subscribe"]>[0] = () => {};
      const subscribe: TimelineFeed["subscribe"] = (listener) => {
        tell = listener;
        return () => {};
      };
      const client = openOutlet();
      const { stop } = carrySubscriber({
        feed: { ...feed, subscribe },
        outlet: client.outlet,
        ...everything,
        patienceMs: 60_000,
      });
      await waitUntil(async () => client.sent.length >= 21, {
        what: "the buffer to be full",
        withinMs: 120_000,
        everyMs: 5,
      });
      for (const to of reorgs) tell({ position: key(to) });
      const told = await waitUntil(
        async () => {
          client.take(10_000);
          const at = client.sent.findIndex((text) => text.includes("reorg"));
          return at >= 0 && client.sent.length > at + 1 && client.sent.slice(at);
        },
        { what: "the reorg", withinMs: 120_000, everyMs: 5 },
      );
      expect(JSON.parse(told[0] ?? "")).to.deep.equal({ type: "reorg", position: key(5) });
      expect(told[1]?.replace(/\.+$/, "")).to.equal("5");
      expect(told.filter((text) => text.includes("reorg"))).to.have.length(1);
      stop();
    }
  });
});
