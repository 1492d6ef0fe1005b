import { expect } from "chai";
import { append } from "tallystick-derive/lists";
import { type LaterRows, LoadedRows } from "tallystick-derive/loadedRows";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { WATCHED } from "tallystick-derive/relevant/inflow";
import { WatchedWallets } from "../../../indexer/relevant/watchedWallets.ts";
import { wallet } from "../../derive/eventLog.ts";

describe("the watched wallets of a database", () => {
  it("may be very many when a process starts", async () => {
    const store = new MemoryStore();
    const count = 150_000;
    for (let n = 0; n < count; n++) append(store, WATCHED, wallet(n));
    const rows: LaterRows = {
      get: (table, id) => store.get(table, id),
      read: async (names) => names.map(({ table, id }) => store.get(table, id)),
    };
    const watched = new WatchedWallets();
    const projector = { rows: async () => new LoadedRows(rows), forgotten: () => 0 };
    expect(await watched.of(projector)).to.have.length(count);
    expect([wallet(0), wallet(count - 1), wallet(count)].map((it) => watched.has(it))).to.deep.equal([
      true,
      true,
      false,
    ]);
    append(store, WATCHED, wallet(count));
    expect((await watched.of(projector)).at(-1)).to.equal(wallet(count));
    expect(watched.has(wallet(count))).to.equal(true);
  });

  it("are read again when a reorganization undid some of them", async () => {
    let store = new MemoryStore();
    let forgotten = 0;
    for (const n of [1, 2]) append(store, WATCHED, wallet(n));
    const rows: LaterRows = {
      get: (table, id) => store.get(table, id),
      read: async (names) => names.map(({ table, id }) => store.get(table, id)),
    };
    const watched = new WatchedWallets();
    const projector = { rows: async () => new LoadedRows(rows), forgotten: () => forgotten };
    await watched.of(projector);
    store = new MemoryStore();
    forgotten = 1;
    for (const n of [1, 3]) append(store, WATCHED, wallet(n));
    expect(await watched.of(projector)).to.deep.equal([wallet(1), wallet(3)]);
    expect([1, 2, 3].map((n) => watched.has(wallet(n)))).to.deep.equal([true, false, true]);
  });
});
