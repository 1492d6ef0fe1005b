import { expect } from "chai";
import { readLookUps } from "../../../tools/bench/index/readLookUps.ts";

describe("the look-ups of a measured node", () => {
  it("are the misses of Ponder's cache, by table, with the time spent on them", () => {
    const metrics = [
      "# TYPE ponder_indexing_cache_requests_total counter",
      'ponder_indexing_cache_requests_total{table="wallet",type="complete"} 2601801',
      'ponder_indexing_cache_requests_total{table="wallet",type="miss"} 7',
      'ponder_indexing_cache_requests_total{table="list_page",type="miss"} 1289',
      'ponder_indexing_cache_query_duration_sum{table="list_page",method="find"} 1500.5',
      'ponder_indexing_cache_query_duration_sum{table="wallet",method="find"} 499.5',
      'ponder_indexing_cache_query_duration_sum{table="wallet",method="flush"} 189761.6',
      "",
    ].join("\n");
    expect(readLookUps(metrics)).to.deep.equal({
      count: 1296,
      seconds: 2,
      tables: [
        ["list_page", 1289],
        ["wallet", 7],
      ],
    });
  });
});
