import { expect } from "chai";
import { feedItemOf, type ToldItem, toldAfter } from "../../portal/market/feed.ts";
import type { StreamEvent } from "../../portal/node/followStream.ts";

const agent = `0x${"a1".repeat(20)}`;
const rating = (block: number, stars: number): StreamEvent => ({
  type: "rating",
  position: `${String(block).padStart(12, "0")}/00000001`,
  data: { rater: agent, ratee: agent, stars, time: block, receipt: `r${block}`, side: "buyer" },
});
const reorg = (position: string): StreamEvent => ({ type: "reorg", position, data: {} });
const play = (events: StreamEvent[]): ToldItem[] =>
  events.reduce<ToldItem[]>((told, event) => toldAfter(told, event, feedItemOf(event)), []);
const starsOf = (told: ToldItem[]) => told.map(({ item }) => item.kind === "rating" && item.stars);

describe("the market's feed", () => {
  it("removes events that a reorganisation undid, and shows the events of the new blocks", () => {
    const [kept, undone, instead] = [rating(7, 3), rating(9, 1), rating(9, 5)];
    expect(starsOf(play([kept, undone]))).to.deep.equal([1, 3]);
    expect(starsOf(play([kept, undone, reorg(kept.position)]))).to.deep.equal([3]);
    expect(starsOf(play([kept, undone, reorg(kept.position), instead]))).to.deep.equal([5, 3]);
    expect(play([kept, undone, reorg("0")])).to.deep.equal([]);
  });

  it("has one line for each position, and no more lines than the page shows", () => {
    expect(starsOf(play([rating(7, 3), rating(7, 4)]))).to.deep.equal([4]);
    const many = Array.from({ length: 30 }, (_, n) => rating(n, n % 5));
    expect(play(many).map(({ item }) => item.time)).to.deep.equal([29, 28, 27, 26, 25, 24, 23, 22, 21]);
  });

  it("ignores events of other kinds and malformed ones", () => {
    const odd: StreamEvent = { type: "rating", position: "1", data: { rater: "me", stars: 9 } };
    expect(play([rating(7, 3), odd, { type: "anchor", position: "2", data: { size: 1 } }])).to.have.length(1);
  });
});
