import { expect } from "chai";
import { emptyRow } from "tallystick-derive/emptyRow";
import { RowCache } from "../../../indexer/src/rows/rowCache.ts";

describe("the cache of rows", () => {
  const texts = { fundings: "", origin: "", begun: "", reachedTail: "" };
  const wallet = (id: string) => ({ ...emptyRow("wallet"), ...texts, id });

  it("keeps rows that take long to read again, however many others are read", () => {
    const cache = new RowCache({ rows: 2, readAgain: 2, payments: 2 });
    cache.read("listPage", "page", null);
    for (let n = 0; n < 100; n++) cache.read("wallet", `wallet ${n}`, wallet(`wallet ${n}`));
    expect(cache.get("listPage", "page")).to.equal(null);
    expect(cache.get("wallet", "wallet 99")).to.deep.equal(wallet("wallet 99"));
    expect(cache.get("wallet", "wallet 0"), "an old row").to.equal(undefined);
  });

  it("keeps no row of any table after the database went back", () => {
    const cache = new RowCache();
    cache.read("listPage", "page", null);
    cache.read("wallet", "wallet", wallet("wallet"));
    cache.read("payment", "payment", null);
    cache.forget();
    for (const [table, id] of [
      ["listPage", "page"],
      ["wallet", "wallet"],
      ["payment", "payment"],
    ] as const) {
      expect(cache.get(table, id), table).to.equal(undefined);
    }
  });
});
