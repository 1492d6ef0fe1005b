import { expect } from "chai";
import { createApi } from "../../../../indexer/api/app.ts";
import { wallet } from "../../../derive/eventLog.ts";
import { emptyDatabase, facilitatorWith, payingFetch, sellInsights } from "../../support/paidInsights.ts";

const URL = "http://node.example/v1/insights/capabilities";

describe("caches and insights", () => {
  it("a shared cache gets no right to keep or to revalidate a paid answer", async () => {
    const facilitator = facilitatorWith({});
    const app = sellInsights(facilitator);
    const paid = await payingFetch(app)(URL);
    expect(paid.status, await paid.clone().text()).to.equal(200);
    expect(paid.headers.get("cache-control")).to.equal("private");
    expect(paid.headers.get("etag")).to.equal(null);
    // The tag that free answers of the same node and the same block have.
    const tag = (await app.request("/v1/capabilities")).headers.get("etag") as string;
    expect(tag).to.be.a("string");
    facilitator.asked.length = 0;
    for (const known of [tag, "*", `"x", ${tag}`]) {
      const asked = await app.request(URL, { headers: { "if-none-match": known } });
      expect(asked.status, known).to.equal(402);
    }
    expect(facilitator.asked).to.deep.equal([]);
  });

  it("free answers still have a tag", async () => {
    const app = createApi({
      db: emptyDatabase(),
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node: { chainId: 31_337, token: wallet(0x70) },
      settlementUrl: null,
    });
    const free = await app.request(URL);
    const tag = free.headers.get("etag") as string;
    expect(tag).to.be.a("string");
    const again = await app.request(URL, { headers: { "if-none-match": tag } });
    expect(again.status).to.equal(304);
  });
});
