import { expect } from "chai";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { barOf, clustersOf, isSideOf, notePair } from "tallystick-derive/audits/bars";
import { joinCluster } from "tallystick-derive/clusters";
import { emptyRow } from "tallystick-derive/emptyRow";
import type { Row } from "tallystick-derive/tables";
import { contextAt } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { memberRow } from "../families/memberRow.ts";
import { assign, auditOf, BUYER, CAPABILITY, OPERATOR, offered, SELLER } from "./auditRows.ts";

const [A, E, F] = [100, 101, 50].map(wallet) as [string, string, string];

/** A context in which the auditor A sold the capability, and in which each wallet has its own family. */
function scene(): ApplyContext {
  const context = contextAt(9, 0, { params: { audit: { pairSeconds: 100 } } as never });
  for (const id of [A, E, BUYER, SELLER]) {
    ensureAgent(context, id);
    context.store.insert("familyMember", memberRow(id, null, id));
  }
  const sold = { ...emptyRow("capability"), id: `${A}/${CAPABILITY}`, agent: A, capability: CAPABILITY };
  context.store.insert("capability", { ...sold, windowSuccesses: 1 } as Row<"capability">);
  offered(context, A, { host: "a.example" });
  offered(context, E, { host: "e.example" });
  return context;
}

const joined = (context: ApplyContext, a: string, b: string) =>
  joinCluster(context, { members: [a, b], signal: "funding_origin", funder: F });
const ofFamily = (context: ApplyContext, id: string, parent: string, family: string) =>
  context.store.put("familyMember", memberRow(id, parent, family));

/** Why A may not judge the audit, after this. */
function bar(act: (context: ApplyContext) => void = () => undefined, round = 1, earlier?: string) {
  const context = scene();
  act(context);
  const audit = auditOf({ round });
  const before =
    earlier === undefined ? [] : [assign(context, audit, { auditor: earlier, host: "e.example" })];
  return barOf(context, audit, A, before);
}

describe("an auditor that may not judge a hire", () => {
  it("is a side of the hire, or sold no success of its capability in the window", () => {
    const context = scene();
    expect(bar()).to.equal(null);
    expect(barOf(context, auditOf({ buyer: A }), A, [])).to.equal("party");
    expect(barOf(context, auditOf({ seller: A }), A, [])).to.equal("party");
    expect(barOf(context, auditOf({ capability: "x.y" }), A, [])).to.equal("capability");
    expect(bar((it) => it.store.update("capability", `${A}/${CAPABILITY}`, { windowSuccesses: 0 }))).to.equal(
      "capability",
    );
  });

  it("is in a cluster with a side, or counts as one buyer with it", () => {
    expect(bar((it) => joined(it, A, BUYER))).to.equal("cluster");
    expect(bar((it) => joined(it, A, SELLER))).to.equal("cluster");
    expect(bar((it) => joined(it, A, E))).to.equal(null);
    const grouped = (side: string) =>
      bar((it) => it.store.insert("buyerGroup", { ...emptyRow("buyerGroup"), id: side, parent: A } as never));
    expect(grouped(BUYER)).to.equal("cluster");
    expect(grouped(SELLER)).to.equal("cluster");
    expect(grouped(E)).to.equal(null);
  });

  it("is in the family of a side, or the buyer pays with money that came through it", () => {
    expect(bar((it) => ofFamily(it, A, BUYER, BUYER))).to.equal("family");
    expect(bar((it) => ofFamily(it, A, SELLER, SELLER))).to.equal("family");
    expect(bar((it) => ofFamily(it, A, E, E))).to.equal(null);
    const behind = (it: ApplyContext) => {
      it.store.insert("registeredMember", memberRow(A, null, A));
      ofFamily(it, A, F, F);
      ofFamily(it, BUYER, A, F);
    };
    expect(bar(behind)).to.equal("family");
  });

  it("judged the same two sides a short time before, with a strict limit", () => {
    const judgedBefore = (seconds: number, more: Partial<Row<"audit">> = {}) =>
      bar((it) => {
        const before = { ...it, at: { ...it.at, time: it.at.time - seconds } };
        notePair(before, auditOf(more), A);
      });
    expect(judgedBefore(99)).to.equal("pair");
    expect(judgedBefore(100)).to.equal(null);
    expect(judgedBefore(0, { buyer: E })).to.equal(null);
    expect(judgedBefore(0, { seller: E })).to.equal(null);
  });

  it("was asked about the hire before, in any round", () => {
    expect(bar(undefined, 1, A)).to.equal("earlier");
    expect(bar(undefined, 2, A)).to.equal("earlier");
    expect(bar(undefined, 2, E)).to.equal(null);
  });

  it("may have the owner of an earlier auditor, from the second round on", () => {
    const claim =
      (id: string, xHandle: string, status = "verified") =>
      (it: ApplyContext) =>
        it.store.insert("claim", { ...emptyRow("claim"), id, xHandle, status } as never);
    const both =
      (...acts: ((it: ApplyContext) => void)[]) =>
      (it: ApplyContext) => {
        for (const act of acts) act(it);
      };
    const related: { [how: string]: (it: ApplyContext) => void } = {
      cluster: (it) => joined(it, A, E),
      family: (it) => ofFamily(it, A, E, E),
      handle: both(claim(A, "Anna"), claim(E, "aNNA")),
      host: (it) => it.store.update("auditor", `${OPERATOR}/${A}`, { host: "e.example" }),
    };
    for (const [how, act] of Object.entries(related)) {
      expect(bar(act, 2, E), how).to.equal("akin");
      expect(bar(act, 1, E), how).to.equal(null);
    }
    const others: { [how: string]: (it: ApplyContext) => void } = {
      "another handle": both(claim(A, "anna"), claim(E, "bert")),
      "one handle": claim(A, "anna"),
      "the other handle": claim(E, "anna"),
      "unclaimed handles": both(claim(A, "anna", "unclaimed"), claim(E, "anna", "unclaimed")),
      "one unclaimed handle": both(claim(A, "anna"), claim(E, "anna", "unclaimed")),
    };
    for (const [how, act] of Object.entries(others)) expect(bar(act, 2, E), how).to.equal(null);
  });
});

describe("the operator of an audit that would judge itself", () => {
  const isSide = (act: (context: ApplyContext) => void = () => undefined, who = OPERATOR) => {
    const context = scene();
    if (who === OPERATOR) context.store.insert("familyMember", memberRow(OPERATOR, null, OPERATOR));
    if (who === OPERATOR) ensureAgent(context, OPERATOR);
    act(context);
    return isSideOf(context, auditOf(), who);
  };

  it("is a side, or belongs to one", () => {
    expect(isSide()).to.equal(false);
    for (const side of [BUYER, SELLER]) {
      expect(isSide(undefined, side)).to.equal(true);
      expect(isSide((it) => joined(it, OPERATOR, side))).to.equal(true);
      expect(isSide((it) => ofFamily(it, OPERATOR, side, side))).to.equal(true);
    }
    expect(isSide((it) => joined(it, OPERATOR, E))).to.equal(false);
    expect(isSide((it) => ofFamily(it, OPERATOR, E, E))).to.equal(false);
    const behind = (it: ApplyContext) => {
      it.store.insert("registeredMember", memberRow(OPERATOR, null, OPERATOR));
      ofFamily(it, BUYER, OPERATOR, F);
    };
    expect(isSide(behind)).to.equal(true);
  });
});

describe("the clusters that an assignment publishes", () => {
  it("are those of both kinds, for each of its three agents", () => {
    const context = scene();
    joined(context, A, BUYER);
    const [own] = clustersOf(context, [A])[A] as [string];
    joinCluster(context, { members: [A, E], signal: "listing_fingerprint", funder: null });
    const found = clustersOf(context, [A, BUYER, SELLER, wallet(9)]);
    expect(found[BUYER]).to.deep.equal([own]);
    expect(found[SELLER]).to.deep.equal([]);
    expect(found[wallet(9)]).to.deep.equal([]);
    expect(found[A]?.[0]).to.equal(own);
    expect(found[A]).to.have.length(2);
    expect(found[A]?.[1]).to.not.equal(own);
  });
});
