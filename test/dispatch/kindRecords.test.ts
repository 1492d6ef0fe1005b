import { expect } from "chai";
import { kindRecords } from "../../services/dispatch/triage/kindRecords.ts";

describe("the ledger's figures for a kind of task", () => {
  it("come from at most the last 5,000 entries, however much the ledger says that it has grown", async () => {
    let size = 10;
    let now = 1_000_000;
    const asked: string[] = [];
    const fetch = async (url: string) => {
      const { pathname, search } = new URL(url);
      if (pathname === "/v1/ledger/latest") return Response.json({ size });
      asked.push(search);
      const dispatch = { dispatcher: "me", kind: "k", tier: "cheap", escalations: [] };
      return new Response(`${JSON.stringify({ payload: { agent_metadata: { dispatch } } })}\nnull\n7\n`);
    };
    const settlement = { baseUrl: "http://settlement.example", apiKey: "key", fetch };
    const recordOf = kindRecords(settlement, "me", () => now);
    const { signal } = new AbortController();
    expect(await recordOf("k", signal)).to.deep.equal({ tasks: 1, escalated: 0 });
    expect(asked).to.deep.equal(["?from=0&to=10"]);
    for (const grown of [1_000_000, Number.MAX_SAFE_INTEGER]) {
      size = grown;
      now += 20_000;
      asked.length = 0;
      await recordOf("k", signal);
      expect(asked).to.have.length(10);
      expect(asked[0]).to.equal(`?from=${grown - 5_000}&to=${grown - 4_500}`);
    }
  });
});
