import { expect } from "chai";
import { takeBrought } from "tallystick-derive/families/brought";
import { keepFlow } from "tallystick-derive/families/keptFlows";
import type { How } from "tallystick-derive/families/origin";
import { countTold } from "tallystick-derive/relevant/senders";
import type { Row } from "tallystick-derive/tables";
import { contextAt, type Form } from "../contextAt.ts";
import { START, wallet } from "../eventLog.ts";
import { memberRow } from "./memberRow.ts";

const [B, P, F, X] = [2, 3, 50, 90].map(wallet) as [string, string, string, string];

type Sent = [to: string, from: string, value: number, how?: How];

/** F funds P, and P funds B. Then these transfers reach them. */
function scene(sent: Sent[], form: Form = "all") {
  const context = contextAt(10, 0, { form, params: { hubTransfers: 5 } });
  for (const it of [memberRow(F, null, F), memberRow(P, F, F), memberRow(B, P, F)])
    context.store.insert("familyMember", it);
  for (const [to, from, value, how = "plain"] of sent)
    keepFlow(context, to, { from, value: BigInt(value), how, block: 9, log: 1, time: START + 9 });
  const member = context.store.get("familyMember", B) as Row<"familyMember">;
  const take = (price: number) => Number(takeBrought(context, member, BigInt(price)));
  const rowOf = (id: string) => context.store.get("brought", id);
  return { context, take, rowOf };
}

const row = (id: string, seen: number, left: bigint, lender: string | null = null, rest = 0n) => ({
  ...{ id, seen, left, lender, rest },
});

describe("the money that a buyer brought from outside", () => {
  it("comes from hubs, from senders of too many transfers and from mints", () => {
    for (const [how, is] of Object.entries({ hub: 1, busy: 1, mint: 1, plain: 0, payout: 0 }))
      expect(scene([[B, X, 10, how as How]]).take(4), how).to.equal(is * 4);
  });

  it("comes from senders of too many transfers also in a log of relevant transfers", () => {
    const taken = (log: number, how: How, form: Form) => {
      const { context, take } = scene([[B, X, 10, how]], form);
      countTold(context, {
        ...{ kind: "count", wallet: wallet(90), side: "out", transfers: 5, block: 9, log, time: START },
      });
      return take(4);
    };
    expect(taken(0, "plain", "relevant")).to.equal(4);
    expect(taken(1, "plain", "relevant")).to.equal(0);
    expect(taken(0, "plain", "all")).to.equal(0);
    expect(taken(0, "payout", "relevant")).to.equal(0);
    expect(taken(9, "mint", "relevant")).to.equal(4);
  });

  it("is taken once, in the order in which it came, and the rest stays for the next hire", () => {
    const { take, rowOf } = scene([
      [B, X, 10, "hub"],
      [B, X, 100],
      [B, X, 7, "mint"],
    ]);
    expect(take(4)).to.equal(4);
    expect(rowOf(B)).to.deep.equal(row(B, 1, 6n));
    expect(take(6)).to.equal(6);
    expect(rowOf(B)).to.deep.equal(row(B, 1, 0n));
    expect(take(5)).to.equal(5);
    expect(rowOf(B)).to.deep.equal(row(B, 3, 2n));
    expect(take(5)).to.equal(2);
    expect(take(5)).to.equal(0);
    expect(rowOf(B)).to.deep.equal(row(B, 3, 0n));
  });

  it("has a row that is written only when it changes", () => {
    const { context, take, rowOf } = scene([[B, X, 10, "hub"]]);
    expect(take(10)).to.equal(10);
    const before = rowOf(B);
    expect(take(3)).to.equal(0);
    expect(rowOf(B)).to.equal(before);
    expect(scene([]).take(3)).to.equal(0);
    expect(context.store.get("brought", P)).to.equal(null);
  });

  it("came through the wallets before the buyer, at most as much as each passed on and had brought itself", () => {
    const through = (brought: number, first: number, second: number) =>
      scene([
        [F, X, brought, "hub"],
        [P, F, first],
        [B, P, second],
      ]);
    expect(through(100, 100, 100).take(30)).to.equal(30);
    expect(through(20, 100, 100).take(30)).to.equal(20);
    expect(through(100, 20, 100).take(30)).to.equal(20);
    expect(through(100, 100, 20).take(30)).to.equal(20);
    const { take, rowOf } = through(100, 60, 40);
    expect(take(30)).to.equal(30);
    expect([B, P, F].map(rowOf)).to.deep.equal([
      row(B, 1, 0n, P, 10n),
      row(P, 1, 0n, F, 30n),
      row(F, 1, 70n),
    ]);
    expect(take(30)).to.equal(10);
    expect([B, P, F].map(rowOf)).to.deep.equal([row(B, 1, 0n), row(P, 1, 0n, F, 20n), row(F, 1, 60n)]);
    expect(take(30)).to.equal(0);
  });

  it("goes on with the next transfer when a wallet before the buyer has no more", () => {
    const { take, rowOf } = scene([
      [P, X, 5, "mint"],
      [B, P, 40],
      [B, X, 50, "hub"],
    ]);
    expect(take(30)).to.equal(30);
    expect(rowOf(B)).to.deep.equal(row(B, 2, 25n));
    expect(rowOf(P)).to.deep.equal(row(P, 1, 0n));
  });

  it("comes from a wallet before the buyer only as far as the buyer's own does not suffice", () => {
    const { take, rowOf } = scene([
      [P, X, 100, "hub"],
      [B, X, 5, "hub"],
      [B, P, 40],
    ]);
    expect(take(30)).to.equal(30);
    expect(rowOf(B)).to.deep.equal(row(B, 2, 0n, P, 15n));
    expect(rowOf(P)).to.deep.equal(row(P, 1, 75n));
  });

  it("does not come through a wallet that did not fund the buyer", () => {
    expect(
      scene([
        [X, wallet(91), 100, "hub"],
        [B, X, 50],
      ]).take(30),
    ).to.equal(0);
  });

  it("is looked for in sixteen transfers for a hire, over the buyer and all wallets before it", () => {
    const many = (to: string, from: string, times: number): Sent[] =>
      Array.from({ length: times }, () => [to, from, 1]);
    const direct = (before: number) => scene([...many(B, X, before), [B, X, 50, "hub"]]);
    expect(direct(15).take(30)).to.equal(30);
    const late = direct(16);
    expect(late.take(30)).to.equal(0);
    expect(late.rowOf(B)).to.deep.equal(row(B, 16, 0n));
    expect(late.take(30)).to.equal(30);
    const latest = direct(33);
    expect([latest.take(30), latest.take(30), latest.take(30)]).to.deep.equal([0, 0, 30]);
    // One look at the buyer's transfer from P, and fifteen at those of P.
    const through = (before: number) => scene([...many(P, X, before), [P, X, 50, "hub"], [B, P, 50]]);
    expect(through(14).take(30)).to.equal(30);
    const later = through(15);
    expect(later.take(30)).to.equal(0);
    expect(later.rowOf(B)).to.deep.equal(row(B, 1, 0n, P, 50n));
    expect(later.take(30)).to.equal(30);
    // P has nothing at all, and that is known with the last look: the buyer is done with P.
    const none = scene([...many(P, X, 15), [B, P, 50], [B, X, 5, "hub"]]);
    expect(none.take(30)).to.equal(0);
    expect(none.rowOf(B)).to.deep.equal(row(B, 1, 0n, P, 50n));
    expect(none.take(30)).to.equal(5);
    expect(none.rowOf(B)).to.deep.equal(row(B, 2, 0n));
  });

  it("is passed on by the last look, if it is enough", () => {
    const sent: Sent[] = [
      ...Array.from({ length: 14 }, (): Sent => [P, X, 1]),
      [P, X, 30, "hub"],
      [B, P, 30],
    ];
    const { take, rowOf } = scene(sent);
    expect(take(30)).to.equal(30);
    expect(rowOf(B)).to.deep.equal(row(B, 1, 0n));
    const more = scene([...sent, [B, X, 9, "hub"]]);
    expect(more.take(35)).to.equal(30);
    expect(more.take(35)).to.equal(9);
  });
});
