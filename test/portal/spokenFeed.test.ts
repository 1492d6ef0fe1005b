import { expect } from "chai";
import type { FeedItem } from "../../portal/market/feed.ts";
import { createSpokenFeed } from "../../portal/market/spokenFeed.ts";

describe("what a screen reader hears of the market's feed", () => {
  const rating = (stars: number): FeedItem => ({
    kind: "rating",
    key: String(stars),
    time: 1,
    rater: "0x1",
    ratee: "0x2",
    stars,
  });

  it("has the first line at once, and one summary of the lines of the next seconds", async () => {
    const said: string[] = [];
    let told = () => {};
    const second = new Promise<void>((resolve) => {
      told = resolve;
    });
    const feed = createSpokenFeed((text) => {
      said.push(text);
      if (said.length === 2) told();
    }, 5);
    for (let n = 1; n <= 5; n++) feed.add(rating(n));
    expect(said).to.deep.equal(["A rating: 1 of 5 stars."]);
    await second;
    expect(said[1]).to.equal("4 new. The latest: A rating: 5 of 5 stars.");
    feed.stop();
  });

  it("has a stranger's text as one line", () => {
    const said: string[] = [];
    const feed = createSpokenFeed((text) => said.push(text));
    const capability = "text\u202e\n".concat("x".repeat(500));
    feed.add({
      kind: "hire",
      key: "h",
      id: "0x1",
      time: 1,
      seller: "0x1",
      buyer: "0x2",
      capability,
      price: "1",
      outcome: "SUCCESS",
    });
    feed.stop();
    expect(said[0]).to.match(/^A hire of text x{123}…: success\.$/);
  });
});
