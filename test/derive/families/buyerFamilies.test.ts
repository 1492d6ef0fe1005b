import { expect } from "chai";
import { agentRow } from "tallystick-derive/agentRow";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import {
  changeBuyerFamily,
  establishedChanged,
  flowChanged,
  settleBuyerFamily,
  stakeOf,
} from "tallystick-derive/families/buyerFamilies";
import { flowId, soldFrom } from "tallystick-derive/families/flows";
import { tickFamilies } from "tallystick-derive/families/tickFamilies";
import { append, itemsOf } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import { findWallet } from "tallystick-derive/wallets";
import { contextAt } from "../contextAt.ts";
import { START, wallet } from "../eventLog.ts";
import { memberRow } from "./memberRow.ts";
import { declare, fund, spend } from "./tellMoney.ts";

const [S, B, F, G, P] = [1, 2, 50, 51, 30].map(wallet) as [string, string, string, string, string];
const HUB = wallet(90);

/** A context in which the seller S has a family of its own, and the buyer B is of the family of F. */
function scene({ log = 0 as number | null, state = {}, store = new MemoryStore() } = {}): ApplyContext {
  if (store.get("familyMember", F) === null)
    for (const it of [memberRow(F, null, F), memberRow(B, F, F), memberRow(S, null, S)])
      store.insert("familyMember", it);
  const params = { minFundingAtomic: "10" };
  const context = contextAt(100, log, { store, params, state: { time: START + 90, ticks: 7, ...state } });
  ensureAgent(context, S);
  return context;
}

const hire = (more: Partial<Row<"hire">> = {}) =>
  ({
    ...{ seller: S, buyer: B, buyerFamily: F, payeeAccount: S, price: 10n, brought: 8n },
    ...{ outcome: "success", refundAfterDelivery: false, ...more },
  }) as Row<"hire">;

const rowOf = (context: ApplyContext, family = F, seller = S) =>
  context.store.get("buyerFamily", `${seller}/${family}`);
const figures = (context: ApplyContext) => {
  const agent = agentRow(context, S);
  const { independentBuyers, establishedBuyers, ratingFamilies, familyShares, kept } = agent;
  return [independentBuyers, establishedBuyers, ratingFamilies, familyShares, kept, agent.contestingFamilies];
};

const empty = {
  ...{ id: `${S}/${F}`, seller: S, family: F, hires: 0, rated: 0, successes: 0, contested: 0, paid: 0n },
  ...{ brought: 0n, sources: S, isIndependent: false, isEstablished: false, isContesting: false },
  ...{ share: null, kept: 0n },
};

describe("what a family adds to a seller's figures", () => {
  it("is counted with its hires, and goes when they leave the window", () => {
    const context = scene();
    changeBuyerFamily(context, hire(), 1);
    expect(rowOf(context)).to.deep.equal({
      ...{ ...empty, hires: 1, rated: 1, successes: 1, paid: 10n, brought: 8n },
      ...{ isIndependent: true, share: 1_000_000_000, kept: 8n },
    });
    expect(figures(context)).to.deep.equal([1, 0, 1, 1_000_000_000n, 8n, 0]);
    changeBuyerFamily(context, hire({ outcome: "failure", price: 7n, brought: 0n }), 1);
    changeBuyerFamily(context, hire({ outcome: "neutral", refundAfterDelivery: true, price: 3n }), 1);
    expect(rowOf(context)).to.deep.include({ hires: 3, rated: 2, successes: 1, contested: 1, paid: 20n });
    expect(rowOf(context)).to.deep.include({
      brought: 16n,
      share: 500_000_000,
      kept: 16n,
      isContesting: true,
    });
    expect(figures(context)).to.deep.equal([1, 0, 1, 500_000_000n, 16n, 1]);
    changeBuyerFamily(context, hire(), -1);
    expect(figures(context)).to.deep.equal([1, 0, 1, 0n, 8n, 1]);
    changeBuyerFamily(context, hire({ outcome: "failure", price: 7n, brought: 0n }), -1);
    expect(figures(context)).to.deep.equal([1, 0, 0, 0n, 8n, 1]);
    changeBuyerFamily(context, hire({ outcome: "neutral", refundAfterDelivery: true, price: 3n }), -1);
    expect(rowOf(context)).to.deep.equal(empty);
    expect(figures(context)).to.deep.equal([0, 0, 0, 0n, 0n, 0]);
  });

  it("is one more buyer also if it rated nothing and brought nothing", () => {
    const context = scene();
    changeBuyerFamily(context, hire({ outcome: "neutral", brought: 0n }), 1);
    expect(figures(context)).to.deep.equal([1, 0, 0, 0n, 0n, 0]);
    expect(rowOf(context)).to.include({ isIndependent: true, share: null, kept: 0n });
  });

  it("is a share with nine decimals, rounded half up", () => {
    const context = scene();
    for (const outcome of ["success", "failure", "success"])
      changeBuyerFamily(context, hire({ outcome: outcome as never }), 1);
    expect(rowOf(context)?.share).to.equal(666_666_667);
  });

  it("counts one contesting family, however often it took its money back", () => {
    const context = scene();
    for (const _ of [1, 2]) changeBuyerFamily(context, hire({ refundAfterDelivery: true }), 1);
    expect(figures(context)[5]).to.equal(1);
    changeBuyerFamily(context, hire({ refundAfterDelivery: true }), -1);
    expect(figures(context)[5]).to.equal(1);
    changeBuyerFamily(context, hire({ refundAfterDelivery: true }), -1);
    expect(figures(context)[5]).to.equal(0);
  });

  it("is nothing for the seller's own family and for an unknown family, but their refunds count", () => {
    const own = scene();
    const more = { buyerFamily: S, payeeAccount: P, refundAfterDelivery: true };
    changeBuyerFamily(own, hire(more), 1);
    expect(rowOf(own, S)).to.deep.include({ hires: 1, isIndependent: false, share: null, kept: 0n });
    // The seller's own account is the family itself, so it is no source.
    expect(rowOf(own, S)?.sources).to.equal(P);
    expect(figures(own)).to.deep.equal([0, 0, 0, 0n, 0n, 1]);
    const deep = scene();
    changeBuyerFamily(deep, hire({ ...more, buyerFamily: "deep" }), 1);
    expect(rowOf(deep, "deep")).to.deep.include({ hires: 1, isIndependent: false, share: null, kept: 0n });
    expect(figures(deep)).to.deep.equal([0, 0, 0, 0n, 0n, 1]);
  });

  it("has the accounts that got its money: those before, the seller's and the payee's, each once", () => {
    const context = scene();
    changeBuyerFamily(context, hire({ payeeAccount: null }), 1);
    expect(rowOf(context)?.sources).to.equal(S);
    changeBuyerFamily(context, hire({ payeeAccount: P }), 1);
    changeBuyerFamily(context, hire({ payeeAccount: G }), 1);
    changeBuyerFamily(context, hire({ payeeAccount: P }), 1);
    changeBuyerFamily(context, hire({ payeeAccount: F }), 1);
    expect(rowOf(context)?.sources).to.equal([S, P, G].join(" "));
    for (const account of [S, P, G])
      expect([...itemsOf(context.store, soldFrom(flowId(account, F)))]).to.deep.equal([S]);
    expect([...itemsOf(context.store, soldFrom(flowId(F, F)))]).to.deep.equal([]);
  });

  it("counts as paid only what may have stayed with the seller", () => {
    const paid = (more: Partial<Row<"hire">>) => {
      const context = scene();
      changeBuyerFamily(context, hire(more), 1);
      return rowOf(context)?.paid;
    };
    expect(paid({ payeeAccount: P })).to.equal(10n);
    expect(paid({ payeeAccount: null })).to.equal(0n);
    expect(paid({ payeeAccount: F })).to.equal(0n);
  });

  it("keeps what it brought, minus what came back from all accounts, and at least nothing", () => {
    const kept = (back: { [account: string]: bigint }) => {
      const context = scene();
      for (const [account, value] of Object.entries(back))
        context.store.insert("flow", { id: flowId(account, F), value, touched: null });
      changeBuyerFamily(context, hire({ payeeAccount: P }), 1);
      return rowOf(context)?.kept;
    };
    expect(kept({})).to.equal(8n);
    expect(kept({ [S]: 3n })).to.equal(5n);
    expect(kept({ [S]: 3n, [P]: 4n, [G]: 1n })).to.equal(1n);
    expect(kept({ [S]: 3n, [P]: 5n })).to.equal(0n);
    expect(kept({ [S]: 3n, [P]: 6n })).to.equal(0n);
  });

  it("counts the purchases of one family from another, but not within one or with an unknown one", () => {
    const counted = (buyerFamily: string, sellerFamily = S) => {
      const context = scene();
      context.store.put("familyMember", memberRow(S, null, sellerFamily));
      changeBuyerFamily(context, hire({ buyerFamily }), 1);
      return context.store.get("familyPurchases", `${buyerFamily}/${sellerFamily}`)?.hires ?? 0;
    };
    expect(counted(F)).to.equal(1);
    expect(counted(S)).to.equal(0);
    expect(counted("deep")).to.equal(0);
    expect(counted(F, "deep")).to.equal(0);
    const context = scene();
    changeBuyerFamily(context, hire(), 1);
    changeBuyerFamily(context, hire(), -1);
    expect(context.store.get("familyPurchases", `${F}/${S}`)?.hires).to.equal(0);
  });

  it("lists the seller once for the family, and makes the family's row", () => {
    const context = scene();
    for (const _ of [1, 2]) changeBuyerFamily(context, hire(), 1);
    expect([...itemsOf(context.store, `boughtBy/${F}`)]).to.deep.equal([S]);
    expect(context.store.get("family", F)).to.include({ id: F, sellers: 1 });
    changeBuyerFamily(context, hire({ buyerFamily: "deep" }), 1);
    expect([...itemsOf(context.store, "boughtBy/deep")]).to.deep.equal([]);
    expect(context.store.get("family", "deep")).to.equal(null);
    changeBuyerFamily(context, hire({ buyerFamily: S }), 1);
    expect(context.store.get("family", S)).to.include({ id: S, sellers: 0 });
  });

  it("is refused for a seller that never acted", () => {
    const context = scene();
    expect(() => changeBuyerFamily(context, hire({ seller: wallet(9) }), 1)).to.throw(
      `${wallet(9)} sold something and is not registered.`,
    );
  });
});

describe("what a family adds to a seller's figures, when something else changed", () => {
  const sold = () => {
    const context = scene();
    changeBuyerFamily(context, hire(), 1);
    return context;
  };
  const establish = (context: ApplyContext, established: boolean) =>
    context.store.update("family", F, { established });

  it("follows the state of the family", () => {
    const context = sold();
    establish(context, true);
    establishedChanged(context, G);
    expect(figures(context)[1]).to.equal(0);
    establishedChanged(context, F);
    expect(figures(context)[1]).to.equal(1);
    expect(rowOf(context)?.isEstablished).to.equal(true);
    establish(context, false);
    establishedChanged(context, F);
    expect(figures(context)[1]).to.equal(0);
    establish(context, true);
    changeBuyerFamily(context, hire(), -1);
    expect(figures(context).slice(0, 2)).to.deep.equal([0, 0]);
    establishedChanged(context, F);
    expect(figures(context)[1]).to.equal(0);
  });

  it("follows the money that came back", () => {
    const context = sold();
    context.store.insert("flow", { id: flowId(S, F), value: 3n, touched: null });
    flowChanged(context, G, F);
    flowChanged(context, S, G);
    expect(figures(context)[4]).to.equal(8n);
    flowChanged(context, S, F);
    expect(figures(context)[4]).to.equal(5n);
    expect(rowOf(context)?.kept).to.equal(5n);
  });

  it("is computed again only for a known pair, and a row without a change is not written", () => {
    const context = sold();
    const before = rowOf(context);
    const put = context.store.put.bind(context.store);
    const written: string[] = [];
    context.store.put = (table, row) => {
      written.push(table);
      put(table, row);
    };
    settleBuyerFamily(context, S, F);
    expect(rowOf(context)).to.equal(before);
    expect(written).to.deep.equal([]);
    settleBuyerFamily(context, S, G);
    settleBuyerFamily(context, G, F);
    expect(rowOf(context, G)).to.equal(null);
    expect(rowOf(context, F, G)).to.equal(null);
  });

  it("is nothing for a family that is the seller's own", () => {
    const context = sold();
    context.store.put("familyMember", memberRow(S, F, F));
    settleBuyerFamily(context, S, F);
    expect(figures(context)).to.deep.equal([0, 0, 0, 0n, 0n, 0]);
  });

  it("is computed at a tick for each pair and each family that changed", () => {
    const context = sold();
    context.store.put("flow", { id: flowId(S, F), value: 3n, touched: 7 });
    append(context.store, "flows/7", flowId(S, F));
    const row = context.store.get("family", F) as Row<"family">;
    context.store.put("family", { ...row, foundedTime: START - 2_592_000, sellers: 3 });
    tickFamilies(context);
    expect(figures(context)).to.deep.equal([1, 1, 1, 1_000_000_000n, 5n, 0]);
  });
});

describe("the stake of a hire", () => {
  const stake = (
    context: ApplyContext,
    { payee = S, inWindow = true, price = 10n, buyer = B, arrived = 0n as bigint | null } = {},
  ) =>
    stakeOf(context, { seller: S, buyer, price, inWindow }, { payee, paid: { block: 99, log: 0, arrived } });

  /** The buyer has this much of a hub's money. */
  const funded = (value: number) => {
    const context = scene();
    const line = `${HUB} ${value} 50 0 ${START + 50} hub`;
    context.wallets.set(B, {
      row: { ...(findWallet(context, B) ?? {}), id: B, reached: 1, reachedTail: line } as Row<"wallet">,
      stored: null,
    });
    return context;
  };

  it("has the buyer's family, the account that got the money, and what the family brought", () => {
    expect(stake(funded(6))).to.deep.equal({ buyerFamily: F, payeeAccount: S, brought: 6n });
    expect(stake(funded(60))).to.deep.equal({ buyerFamily: F, payeeAccount: S, brought: 10n });
    expect(stake(funded(60), { arrived: 7n }).brought).to.equal(3n);
    expect(stake(funded(60), { arrived: null }).brought).to.equal(0n);
    const later = funded(60);
    expect(stake(later, { inWindow: false })).to.deep.equal({ buyerFamily: F, payeeAccount: S, brought: 0n });
    expect(findWallet(later, B)?.traced).to.not.equal(true);
    expect(later.store.get("brought", B)).to.equal(null);
  });

  it("traces the buyer, and notes both sides", () => {
    const context = funded(6);
    stake(context);
    for (const id of [B, F]) expect(findWallet(context, id)?.traced).to.equal(true);
    for (const id of [B, F, S]) expect(context.store.get("familyMember", id)?.ofHire).to.equal(true);
  });

  it("takes nothing if the money cannot stay: for the family itself, or for an unknown family or account", () => {
    const none = (context: ApplyContext, more = {}) => {
      expect(stake(context, more).brought).to.equal(0n);
      expect(context.store.get("brought", B)).to.equal(null);
    };
    none(funded(6), { payee: F });
    none(funded(6), { payee: P });
    none(funded(6), { arrived: null });
    const own = funded(6);
    own.store.put("familyMember", memberRow(S, F, F));
    none(own);
    // The money may stay with a payee of another family, but not the money of the seller's own family.
    spend(own, P, [50, 0]);
    none(own, { payee: P });
    const deep = funded(6);
    deep.store.put("familyMember", memberRow(B, F, "deep"));
    none(deep);
    const back = funded(6);
    back.store.put("familyMember", memberRow(S, null, "deep"));
    expect(stake(back)).to.deep.equal({ buyerFamily: F, payeeAccount: S, brought: 6n });
  });

  it("counts money that came through the seller for the seller's family", () => {
    const context = scene();
    context.store.insert("registeredMember", memberRow(S, null, S));
    context.store.put("familyMember", memberRow(S, F, F));
    context.store.put("familyMember", memberRow(B, S, F));
    expect(stake(context)).to.include({ buyerFamily: S });
    const other = scene();
    other.store.put("familyMember", memberRow(B, G, F));
    expect(stake(other)).to.include({ buyerFamily: F });
  });

  it("knows the account of a payee that acted before this place, and of the seller at this place", () => {
    const payee = (block: number, log: number, at: number | null = 4) => {
      const context = scene({ log: at });
      spend(context, P, [block, log]);
      return stake(context, { payee: P }).payeeAccount;
    };
    expect(payee(100, 3)).to.equal(P);
    expect(payee(100, 4)).to.equal(null);
    expect(payee(99, 9, null)).to.equal(P);
    expect(payee(100, 0, null)).to.equal(null);
    const context = contextAt(100, 4);
    for (const it of [memberRow(F, null, F), memberRow(B, F, F)]) context.store.insert("familyMember", it);
    fund(context, S, G, 5, [90, 0]);
    declare(context, S, [100, 4]);
    expect(stake(context)).to.include({ payeeAccount: G });
  });

  it("knows eight accounts of one family at one seller; the money of others does not count", () => {
    const with_ = (known: number, payee = P) => {
      const context = funded(6);
      const sources = [...Array.from({ length: known - 1 }, (_, n) => wallet(60 + n)), wallet(70)];
      if (known > 0)
        context.store.insert("buyerFamily", { ...empty, sources: sources.join(" ") } as Row<"buyerFamily">);
      for (const id of [P, wallet(70)]) spend(context, id, [50, 0]);
      return stake(context, { payee }).payeeAccount;
    };
    expect(with_(0)).to.equal(P);
    expect(with_(7)).to.equal(P);
    expect(with_(8)).to.equal(null);
    expect(with_(8, wallet(70))).to.equal(wallet(70));
    expect(with_(9, wallet(70))).to.equal(wallet(70));
    expect(with_(8, S)).to.equal(null);
  });
});
