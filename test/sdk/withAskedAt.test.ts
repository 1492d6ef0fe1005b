import { expect } from "chai";
import { withAskedAt } from "tallystick-sdk/buyer/withAskedAt";

describe("withAskedAt", () => {
  const now = 1_795_003_600_999;

  it("adds the time of the request, so that the age of an answer is checked", async () => {
    const asked = await withAskedAt("data.lookup.stock-price", { ticker: "AAPL" }, now);
    expect(asked).to.deep.equal({ ticker: "AAPL", asked_at: 1_795_003_600 });
    const page = { url: "https://a.example/", fields: ["title"] };
    expect(await withAskedAt("data.extract.from-url", page, now)).to.have.property("asked_at");
  });

  it("does not change a caller's own time, params of a capability without a time, or params of a quote", async () => {
    const own = { ticker: "AAPL", asked_at: 1_700_000_000 };
    expect(await withAskedAt("data.lookup.stock-price", own, now)).to.deep.equal(own);
    expect(await withAskedAt("compute.statistics.mean", { data: [1] }, now)).to.deep.equal({ data: [1] });
    expect(await withAskedAt("custom.acme.price", {}, now)).to.deep.equal({});
    expect(await withAskedAt("data.lookup.stock-price", { ticker: "AAPL" }, now, "q")).to.deep.equal({
      ticker: "AAPL",
    });
  });
});
