import { expect } from "chai";
import { News } from "../../../../indexer/api/stream/news.ts";

const at = (block: number) => `${String(block).padStart(12, "0")}/00000001`;

describe("the news for a subscriber", () => {
  it("gives the deepest of the reorgs since the last question, in any order of the reorgs", () => {
    for (const blocks of [
      [3, 7],
      [7, 3],
      [9, 3, 7],
      [10, 9, 3],
    ]) {
      const news = new News();
      for (const block of blocks) news.tell(at(block));
      news.tell(null);
      expect(news.hasReorg).to.equal(true);
      expect(news.takeReorg(), `told ${blocks}`).to.equal(at(3));
      expect(news.hasReorg).to.equal(false);
      expect(news.takeReorg()).to.equal(null);
    }
  });

  it("wakes a waiting subscriber, and lets nobody wait if there is news already", async () => {
    const news = new News();
    news.tell(null);
    await news.next();
    const next = news.next();
    news.tell(at(1));
    await next;
    const last = news.next();
    news.end();
    await last;
    expect(news.hasEnded).to.equal(true);
    await news.next();
  });
});
