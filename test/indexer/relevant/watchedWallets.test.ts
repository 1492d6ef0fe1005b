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
    append(store, WATCHED, wallet(count));
    expect((await watched.of(projector)).at(-1)).to.equal(wallet(count));
  });
});
