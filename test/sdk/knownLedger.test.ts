import { expect } from "chai";
import { knownLedger } from "tallystick-sdk/knownLedger";
import type { Fetch } from "tallystick-sdk/requestService";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";

const ONE = `0x${"1e".repeat(32)}` as const;
const OTHER = `0x${"2e".repeat(32)}` as const;

describe("the ledger that a buyer signs for", () => {
  let asked: string[];
  let says: unknown;
  const fetch: Fetch = async (input) => {
    asked.push(input);
    return new Response(typeof says === "string" ? says : JSON.stringify(says));
  };
  beforeEach(() => {
    asked = [];
    says = { ledger: ONE };
  });
  const open = (store = memoryStore(), more = {}) =>
    knownLedger({ baseUrl: "https://node.example/", store, fetch, ...more });

  it("is the node's first answer, even after a restart, whatever the node answers later", async () => {
    const store = memoryStore();
    const ledger = open(store);
    expect(await ledger()).to.equal(ONE);
    says = { ledger: OTHER };
    expect(await ledger()).to.equal(ONE);
    expect(await open(store)()).to.equal(ONE);
    expect(asked).to.deep.equal(["https://node.example/v1/ledger/latest"]);
    expect(await knownLedger({ baseUrl: "https://other.example", store, fetch })()).to.equal(OTHER);
  });

  it("is the given ledger if there is one, and then no node is asked", async () => {
    expect(await open(memoryStore(), { ledger: OTHER })()).to.equal(OTHER);
    expect(await open(memoryStore(), { ledger: "local" })()).to.equal("local");
    expect(asked).to.deep.equal([]);
  });

  it("is not accepted from an answer without a ledger's id", async () => {
    const store = memoryStore();
    for (const answer of [
      { ledger: "local" },
      { ledger: "0x1e" },
      { ledger: null },
      {},
      [],
      null,
      "<html>",
    ]) {
      says = answer;
      const error = await open(store)().catch((reason) => reason);
      expect(error.code, JSON.stringify(answer)).to.equal("ledger_unknown");
    }
    says = { ledger: ONE };
    expect(await open(store)()).to.equal(ONE);
  });

  it("is not waited for when the caller stops", async () => {
    const stop = new AbortController();
    const hang: Fetch = () => {
      queueMicrotask(() => stop.abort(new Error("stopped")));
      return new Promise(() => {});
    };
    const error = await open(memoryStore(), { fetch: hang })(stop.signal).catch((reason) => reason);
    expect(error.message).to.equal("stopped");
  });

  it("is the same for two processes that ask at the same time", async () => {
    const store = memoryStore();
    const [a, b] = [open(store), open(store)];
    const first = a();
    says = { ledger: OTHER };
    expect(await Promise.all([first, b()])).to.satisfy(([x, y]: string[]) => x === y);
  });
});
