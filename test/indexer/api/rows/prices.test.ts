import { expect } from "chai";
import type { Row } from "tallystick-derive/tables";
import { MAX_CAPABILITIES, pricesOf } from "../../../../indexer/api/rows/prices.ts";
import * as schema from "../../../../indexer/ponder.schema.ts";
import { wallet } from "../../../derive/eventLog.ts";
import { openRestApi, type RestApi } from "../../support/openRestApi.ts";

describe("the prices of agents", () => {
  let api: RestApi;

  before(async () => {
    api = await openRestApi();
  });
  after(() => api?.close());

  it("of one agent with thousands of capabilities are limited, so that the same read gives the prices of other agents", async () => {
    const [many, one, none] = [wallet(1), wallet(2), wallet(3)];
    const row = (agent: string, n: number, medianPrice: string | null = "500000"): Row<"capability"> => {
      const capability = `text.task${String(n).padStart(5, "0")}`;
      const counts = { windowHires: 1, windowSuccesses: 0 };
      return { id: `${agent}/${capability}`, agent, capability, ...counts, medianPrice, place: 0 };
    };
    const rows = Array.from({ length: 3_000 }, (_, n) => row(many, n));
    await api.database.database.insert(schema.capability).values([...rows, row(one, 7), row(one, 8, null)]);
    const [first = [], second = [], third] = await pricesOf(api.database.db, [many, one, none]);
    expect(first.map(({ capability }) => capability)).to.deep.equal(
      rows.slice(0, MAX_CAPABILITIES).map(({ capability }) => capability),
    );
    expect(second.map(({ capability, medianPrice }) => [capability, medianPrice])).to.deep.equal([
      ["text.task00007", "500000"],
    ]);
    expect(third).to.deep.equal([]);
  });
});
