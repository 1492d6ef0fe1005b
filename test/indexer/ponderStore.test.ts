import { expect } from "chai";
import { ponderStore } from "../../indexer/src/ponderStore.ts";

type Values = { id: string; [column: string]: unknown };

/** As Ponder's database does: what is found is the row in the cache, and an update changes that very row. */
function cacheOf(rows: Map<string, Values>) {
  return {
    find: async (_table: unknown, { id }: { id: string }) => rows.get(id) ?? null,
    insert: () => ({ values: async (row: Values) => void rows.set(row.id, row) }),
    update: (_table: unknown, { id }: { id: string }) => ({
      set: async (change: object) => void Object.assign(rows.get(id) ?? {}, change),
    }),
  } as unknown as Parameters<typeof ponderStore>[0];
}

describe("the derivation's store on Ponder", () => {
  it("gives a row as it was when it was asked for, whatever is written later", async () => {
    const store = ponderStore(cacheOf(new Map()));
    await store.insert("wallet", { id: "0x01", kind: null, received: 1n, fundings: 0 });
    const before = await store.get("wallet", "0x01");
    await store.update("wallet", "0x01", { received: 2n });
    expect(before).to.deep.equal({ id: "0x01", kind: null, received: 1n, fundings: 0 });
    expect((await store.get("wallet", "0x01"))?.received).to.equal(2n);
    expect(await store.get("wallet", "0x02")).to.equal(null);
  });
});
