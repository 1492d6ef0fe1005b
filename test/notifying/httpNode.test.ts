import { expect } from "chai";
import { ServiceError } from "tallystick-sdk/requestService";
import { privateKeyToAccount } from "viem/accounts";
import { createHttpNode } from "../../services/notifying/httpNode.ts";
import { KEY, NOW, step, subscription } from "./support/testNotifier.ts";

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
});
