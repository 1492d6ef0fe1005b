import { expect } from "chai";
import { searchRequest } from "../../indexer/api/rest/schemas.ts";
import { searchBody } from "../../portal/market/searchQuery.ts";

describe("the search of the portal", () => {
  const bodyOf = (query: string) =>
    searchBody(new URLSearchParams(`capability=text.translate.en.it&${query}`));

  it("sends each filter in the form that the node reads", () => {
    expect(bodyOf("min_success_rate=95&max_price_usdc=0,50&max_latency_ms=+")).to.deep.equal({
      ...{ capability: "text.translate.en.it", limit: 50 },
      ...{ min_success_rate: 0.95, max_price_usdc: "0.50" },
    });
  });

  it("still sends a filter that is not a number, so that the node refuses it by its name", () => {
    for (const field of ["min_success_rate", "max_latency_ms", "min_trust_tier"]) {
      const sent = JSON.parse(JSON.stringify(bodyOf(`${field}=95%25`)));
      const { error } = searchRequest.safeParse(sent);
      expect(error?.issues.map((it) => it.path.join("."))).to.deep.equal([field]);
    }
  });
});
