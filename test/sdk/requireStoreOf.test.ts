import { expect } from "chai";
import { requireKeeperStore } from "tallystick-sdk/escrow/requireKeeperStore";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { requireStoreOf, type StoreScope } from "tallystick-sdk/store/requireStoreOf";
import { rejection } from "./support/tamper.ts";

const ESCROW = `0x${"e5".repeat(20)}`;

describe("a store that is about one chain and contract", () => {
  const requireIt = (store: Parameters<typeof requireStoreOf>[0], scope: StoreScope) =>
    requireStoreOf(store, { name: "keeper", scope, hint: "Give it another folder." });

  it("is the store of the first that uses it, in whatever order it names what it is about", async () => {
    const store = memoryStore();
    await requireIt(store, { chain: 1, escrow: ESCROW });
    await requireIt(store, { escrow: ESCROW, chain: 1 });
    const others: StoreScope[] = [{ chain: 2, escrow: ESCROW }, { chain: 1 }, { chain: 1, ledger: ESCROW }];
    for (const other of others) {
      const refused = await rejection(requireIt(store, other));
      expect(refused).to.include({ code: "other_store", hint: "Give it another folder." });
      expect(refused.message).to.contain(`about chain 1, escrow ${ESCROW}, not about`);
    }
    expect(await store.get("scope/keeper")).to.deep.equal({ chain: 1, escrow: ESCROW });
  });

  it("of a keeper is that of one escrow on one chain, in whatever case its address is written", async () => {
    const store = memoryStore();
    const escrow = `0x${"eE".repeat(20)}` as const;
    await requireKeeperStore(store, { chainId: 1, escrow });
    await requireKeeperStore(store, { chainId: 1, escrow: `0x${"ee".repeat(20)}` });
    for (const other of [{ chainId: 2, escrow }, { chainId: 1, escrow: `0x${"e5".repeat(20)}` } as const])
      expect(await rejection(requireKeeperStore(store, other))).to.include({ code: "other_store" });
  });

  it("is that of the faster one of two processes that begin at the same time", async () => {
    const store = memoryStore();
    /** A process that reads before the other one writes. */
    const late = () => {
      let isFirst = true;
      const get = async <T>(key: string): Promise<T | undefined> => {
        if (!isFirst) return await store.get<T>(key);
        isFirst = false;
        return undefined;
      };
      return { get, putNew: store.putNew };
    };
    await requireIt(store, { chain: 1, escrow: ESCROW });
    await requireIt(late(), { chain: 1, escrow: ESCROW });
    const refused = await rejection(requireIt(late(), { chain: 2, escrow: ESCROW }));
    expect(refused).to.include({ code: "other_store" });
  });
});
