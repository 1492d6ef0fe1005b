import { expect } from "chai";
import { ponderRows } from "../../indexer/src/ponderRows.ts";

type Values = { id: string; [column: string]: unknown };

/** As Ponder's database does: what is found is the row in the cache, and an update changes that very row. */
function cacheOf(rows: Map<string, Values>) {
  return {
    find: async (_table: unknown, { id }: { id: string }) => rows.get(id) ?? null,
    insert: () => ({ values: async (row: Values) => void rows.set(row.id, row) }),
    update: (_table: unknown, { id }: { id: string }) => ({
      set: async (change: object) => void Object.assign(rows.get(id) ?? {}, change),
    }),
  } as unknown as Parameters<typeof ponderRows>[0];
}

describe("the derivation's rows in Ponder", () => {
  it("gives a row as it was when it was asked for, whatever is written later", async () => {
    const rows = ponderRows(cacheOf(new Map()));
    const wallet = { id: "0x01", kind: null, received: 1n, fundings: "" };
    await rows.insert("wallet", { ...wallet });
    const before = await rows.find("wallet", "0x01");
    await rows.update("wallet", { ...wallet, received: 2n });
    expect(before).to.deep.equal(wallet);
    expect((await rows.find("wallet", "0x01"))?.received).to.equal(2n);
    expect(await rows.find("wallet", "0x02")).to.equal(null);
  });
});
