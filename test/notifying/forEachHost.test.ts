import { expect } from "chai";
import { forEachHost } from "../../services/notifying/forEachHost.ts";

/** Three messages to each of three hosts. The name of a message is its host and its number. */
const messages = ["a", "b", "c"].flatMap((host) =>
  [1, 2, 3].map((n) => ({ url: `https://${host}.example/${n}`, name: `${host}${n}` })),
);

describe("messages to many hosts", () => {
  /** Sends the messages. Returns those that were begun, and how many ran at the same time, in all and at one host. */
  async function send(
    limits: Parameters<typeof forEachHost>[1],
    { failing = [] as string[], onBegin = () => {} } = {},
  ) {
    const begun: string[] = [];
    const running: string[] = [];
    let [most, mostOfHost] = [0, 0];
    await forEachHost(messages, limits, async ({ name }) => {
      begun.push(name);
      onBegin();
      const host = name.charAt(0);
      running.push(host);
      most = Math.max(most, running.length);
      mostOfHost = Math.max(mostOfHost, running.filter((it) => it === host).length);
      // Other messages begin now, if they do not have to wait for this one.
      await new Promise(setImmediate);
      running.splice(running.indexOf(host), 1);
      return !failing.includes(name);
    });
    return { begun, most, mostOfHost };
  }

  it("reach as many hosts at the same time as allowed, and each host gets one after the other", async () => {
    const { begun, most, mostOfHost } = await send({ most: 9, atOnce: 2 });
    expect(begun)
      .to.have.members(messages.map(({ name }) => name))
      .and.to.have.length(9);
    expect(begun.filter((name) => name.startsWith("a"))).to.deep.equal(["a1", "a2", "a3"]);
    expect([most, mostOfHost]).to.deep.equal([2, 1]);
  });

  it("end at a host after its limit, and after its first failure", async () => {
    const { begun } = await send({ most: 2, atOnce: 3 }, { failing: ["b1"] });
    expect(begun.sort()).to.deep.equal(["a1", "a2", "b1", "c1", "c2"]);
  });

  it("do not begin any more when the time is over", async () => {
    let count = 0;
    const isOver = () => count >= 4;
    const { begun } = await send({ most: 9, atOnce: 1, isOver }, { onBegin: () => count++ });
    expect(begun).to.deep.equal(["a1", "a2", "a3", "b1"]);
  });
});
