import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import {
  eachChangedFlow,
  flowId,
  flowOf,
  leaveFlow,
  noteFlow,
  soldFrom,
  traceBuyer,
} from "tallystick-derive/families/flows";
import { isOfSomebody, keepFlow, reached } from "tallystick-derive/families/keptFlows";
import { formatInflow, type How } from "tallystick-derive/families/origin";
import { append, itemIn, itemsUpTo } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Read } from "tallystick-derive/relevant/reads";
import { countTold } from "tallystick-derive/relevant/senders";
import type { Row } from "tallystick-derive/tables";
import { findWallet, saveWallets, walletToChange } from "tallystick-derive/wallets";
import { contextAt, type Form, scheduled } from "../contextAt.ts";
import { START, wallet } from "../eventLog.ts";
import { memberRow } from "./memberRow.ts";

const [S, B, P, F, G] = [1, 2, 3, 50, 51].map(wallet) as [string, string, string, string, string];
const params = { minFundingAtomic: "10", windowSeconds: 1_000, hubTransfers: 5 };

const inflow = (value: number, more: { from?: string; time?: number; how?: How; block?: number } = {}) => ({
  ...{ from: S, value: BigInt(value), block: 9, log: 1, time: START + 9, how: "plain" as How, ...more },
});

/** A context in which F funds P, P funds B, and the seller S has a family of its own. */
function scene({ form = "all" as Form, state = {}, store = new MemoryStore(), ask = () => true } = {}) {
  for (const it of [memberRow(F, null, F), memberRow(P, F, F), memberRow(B, P, F), memberRow(S, null, S)])
    if (store.get("familyMember", it.id) === null) store.insert("familyMember", it);
  return contextAt(10, 0, { form, params, store, ask, state: { time: START + 5, ticks: 7, ...state } });
}

const buyer = (context: ApplyContext) => context.store.get("familyMember", B) as Row<"familyMember">;
const isTraced = (context: ApplyContext, id: string) => findWallet(context, id)?.traced ?? false;
const changed = (context: ApplyContext) => {
  const pairs: string[] = [];
  eachChangedFlow(context, (account, family) => pairs.push(`${account} ${family}`));
  return pairs;
};

describe("a transfer that may pay for a later hire", () => {
  it("is kept if it is as large as a funding, in the order of arrival", () => {
    const context = scene();
    noteFlow(context, B, inflow(9));
    expect(reached(context, B)).to.deep.equal({ id: `reached/${B}`, length: 0, tail: "" });
    noteFlow(context, B, inflow(10));
    noteFlow(context, B, inflow(11));
    const lines = [inflow(10), inflow(11)].map(formatInflow);
    expect([...itemsUpTo(context.store, reached(context, B))]).to.deep.equal(lines);
    expect(reached(context, B)).to.deep.equal({ id: `reached/${B}`, length: 2, tail: lines.join("\n") });
    expect(keepFlow(context, B, inflow(12))).to.equal(findWallet(context, B));
    for (let n = 0; n < 20; n++) keepFlow(context, B, inflow(20 + n));
    expect(itemIn(context.store, reached(context, B), 2)).to.equal(formatInflow(inflow(12)));
    expect(itemIn(context.store, reached(context, B), 22)).to.equal(formatInflow(inflow(39)));
  });

  it("is money of somebody if a wallet or an escrow's buyer sent it", () => {
    for (const [how, is] of Object.entries({
      plain: true,
      payout: true,
      hub: false,
      busy: false,
      mint: false,
    }))
      expect(isOfSomebody(inflow(1, { how: how as How })), how).to.equal(is);
  });
});

describe("money that comes back to a traced wallet", () => {
  const back = (more: Parameters<typeof inflow>[1] = {}, context = scene(), to = B) => {
    walletToChange(context, to).traced = true;
    noteFlow(context, to, inflow(10, more));
    return context;
  };
  const isBack = (more: Parameters<typeof inflow>[1] = {}, context = scene()) =>
    flowOf(back(more, context), S, F) > 0n;

  it("counts for its sender's account and the family, until it leaves the window", () => {
    const context = back();
    expect(context.store.get("flow", `${S}/${F}`)).to.deep.equal({
      id: `${S}/${F}`,
      value: 10n,
      touched: null,
    });
    expect(scheduled(context)).to.deep.equal([`${START + 1_009} flow ${S}/${F} 10`]);
    noteFlow(context, B, inflow(15));
    expect(flowOf(context, S, F)).to.equal(25n);
    leaveFlow(context, flowId(S, F), 10n);
    expect(flowOf(context, S, F)).to.equal(15n);
    expect(flowOf(context, F, S)).to.equal(0n);
  });

  it("does not count to a wallet that is not traced, or below the size of a funding", () => {
    const context = scene();
    noteFlow(context, B, inflow(10));
    expect(flowOf(context, S, F)).to.equal(0n);
    walletToChange(context, B).traced = true;
    noteFlow(context, B, inflow(9));
    expect(flowOf(context, S, F)).to.equal(0n);
  });

  it("counts only from wallets and payouts of escrows", () => {
    for (const [how, is] of Object.entries({
      plain: true,
      payout: true,
      hub: false,
      busy: false,
      mint: false,
    }))
      expect(isBack({ how: how as How }), how).to.equal(is);
  });

  it("counts only while it is in the window of the last tick", () => {
    const at = (since: number) => isBack({}, scene({ state: { time: since } }));
    expect(at(START + 1_008)).to.equal(true);
    expect(at(START + 1_009)).to.equal(false);
  });

  it("does not count from a sender with too many transfers, unless it is an escrow's payout", () => {
    const sent = (log: number, how: How, form: Form = "relevant") => {
      const context = scene({ form });
      countTold(context, {
        ...{ kind: "count", wallet: wallet(1), side: "out", transfers: 5, block: 9, log, time: START },
      });
      return isBack({ how }, context);
    };
    expect(sent(0, "plain")).to.equal(false);
    expect(sent(1, "plain")).to.equal(true);
    expect(sent(0, "payout")).to.equal(true);
    expect(sent(0, "plain", "all")).to.equal(true);
  });

  it("does not count from the family itself, and not while it moves away from the founder", () => {
    const context = scene();
    back({ from: G }, context);
    // G never acted before, so it is of its own family.
    expect(flowOf(context, G, F)).to.equal(10n);
    const rows = () => context.store.get("list", "reached")?.length ?? scheduled(context).length;
    expect(rows()).to.equal(1);
    for (const from of [P, F]) back({ from }, context);
    expect(rows()).to.equal(1);
    // P is of the family, but not before its founder.
    back({ from: P }, context, F);
    expect(rows()).to.equal(1);
    expect(flowOf(context, F, F)).to.equal(0n);
  });

  it("counts for the family that its sender has as a seller", () => {
    const context = scene();
    context.store.insert("registeredMember", memberRow(P, null, P));
    // Money from P to B moves away from the founder; to F it comes back, from a seller with a family of its own.
    back({ from: P }, context);
    expect(flowOf(context, P, F)).to.equal(0n);
    back({ from: P }, context, F);
    expect(flowOf(context, P, F)).to.equal(10n);
    const deep = scene();
    deep.store.put("familyMember", memberRow(S, G, "deep"));
    expect(flowOf(back({}, deep), S, F)).to.equal(10n);
  });
});

describe("a traced buyer", () => {
  it("is traced with the wallets before it", () => {
    const context = scene();
    traceBuyer(context, buyer(context));
    for (const id of [B, P, F]) expect(isTraced(context, id), id).to.equal(true);
    expect(isTraced(context, S)).to.equal(false);
    // A log of all transfers needs no watch.
    expect(context.store.get("inflow", B)).to.equal(null);
    const relevant = scene({ form: "relevant" });
    traceBuyer(relevant, buyer(relevant));
    for (const id of [B, P, F]) expect(relevant.store.get("inflow", id)?.watchedBlock).to.equal(10);
  });

  it("is traced only up to the first wallet that is traced, whose wallets before it are traced too", () => {
    const context = scene();
    walletToChange(context, P).traced = true;
    traceBuyer(context, buyer(context));
    expect([B, P, F].map((id) => isTraced(context, id))).to.deep.equal([true, true, false]);
    traceBuyer(context, { ...buyer(context), parent: F });
    expect(isTraced(context, F)).to.equal(false);
  });

  it("is not traced if its family is unknown", () => {
    const context = scene();
    traceBuyer(context, { ...buyer(context), family: "deep" });
    expect(isTraced(context, B)).to.equal(false);
  });

  it("gets counted what came back within the window before, each transfer once", () => {
    const context = scene({ state: { time: START + 1_005 } });
    for (const [value, time] of [
      [100, 4],
      [10, 5],
      [11, 6],
      [12, 8],
    ] as const)
      noteFlow(context, B, inflow(value, { time: START + time }));
    noteFlow(context, P, inflow(1_000, { time: START + 9 }));
    traceBuyer(context, buyer(context));
    expect(flowOf(context, S, F)).to.equal(1_023n);
    traceBuyer(context, buyer(context));
    expect(flowOf(context, S, F)).to.equal(1_023n);
    expect(scheduled(context)).to.have.length(3);
  });

  it("reads its newest transfers only, up to the first that left the window, in groups of 512", () => {
    const reads = (old: number, fresh: number) => {
      const store = new MemoryStore();
      const before = scene({ store, state: { time: START + 1_005 } });
      for (let n = 0; n < old + fresh; n++)
        keepFlow(before, B, inflow(10, { time: START + (n < old ? 5 : 6) }));
      saveWallets(before);
      let pages = 0;
      const get = store.get.bind(store);
      store.get = (table, id) => {
        if (table === "listPage" && id.startsWith("reached/")) pages++;
        return get(table, id);
      };
      const context = scene({ store, state: { time: START + 1_005 } });
      traceBuyer(context, buyer(context));
      return [flowOf(context, S, F), pages];
    };
    expect(reads(0, 513)).to.deep.equal([5_130n, 512]);
    expect(reads(0, 1_025)).to.deep.equal([10_250n, 1_024]);
    expect(reads(1_020, 4)).to.deep.equal([40n, 512]);
    expect(reads(1_024, 0)).to.deep.equal([0n, 512]);
    expect(reads(512, 513)).to.deep.equal([5_130n, 1_023]);
  });
});

describe("the pairs whose money that came back changed", () => {
  const pay = (context: ApplyContext, from: string, value = 10) => {
    walletToChange(context, B).traced = true;
    noteFlow(context, B, inflow(value, { from }));
  };

  it("are told at the tick, once, if a seller got money of the family at that account", () => {
    const context = scene();
    append(context.store, soldFrom(flowId(S, F)), S);
    pay(context, S);
    pay(context, S);
    pay(context, G);
    expect(context.store.get("flow", flowId(S, F))).to.include({ value: 20n, touched: 7 });
    expect(context.store.get("flow", flowId(G, F))).to.include({ value: 10n, touched: null });
    expect(changed(context)).to.deep.equal([`${S} ${F}`]);
    leaveFlow(context, flowId(S, F), 10n);
    expect(changed(context)).to.deep.equal([`${S} ${F}`]);
    const next = scene({ store: context.store as never, state: { ticks: 8 } });
    expect(changed(next)).to.deep.equal([]);
    leaveFlow(next, flowId(S, F), 4n);
    expect(changed(next)).to.deep.equal([`${S} ${F}`]);
    expect(next.store.get("flow", flowId(S, F))).to.include({ value: 6n, touched: 8 });
  });

  it("keep the tick of their last change while no seller is concerned", () => {
    const context = scene();
    context.store.insert("flow", { id: flowId(S, F), value: 5n, touched: 3 });
    pay(context, S);
    expect(context.store.get("flow", flowId(S, F))).to.include({ value: 15n, touched: 3 });
    expect(changed(context)).to.deep.equal([]);
  });

  it("are asked about, while a log of relevant transfers is made, for their senders only", () => {
    const reads: Read[] = [];
    const context = scene({ form: "relevant", ask: ((it: Read) => reads.push(it) > 0) as never });
    pay(context, S);
    expect(reads.map(({ kind }) => kind)).to.deep.equal(["transfersFrom"]);
    expect(flowOf(context, S, F)).to.equal(10n);
  });
});
