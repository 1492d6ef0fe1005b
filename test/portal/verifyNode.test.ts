import { expect } from "chai";
import { type Snapshot, snapshotOf } from "tallystick-derive/snapshot";
import { agentSnapshot } from "../../portal/verify/agentSnapshot.ts";
import { verdictOf } from "../../portal/verify/verdictOf.ts";
import { type Claim, verifyNode } from "../../portal/verify/verifyNode.ts";
import { EventLog, TOKEN, wallet } from "../derive/eventLog.ts";
import { fakeNode } from "../sdk/openLog/fakeNode.ts";

const [seller, buyer] = [wallet(1), wallet(2)];

/** A log with one hire. */
function begun(params: ConstructorParameters<typeof EventLog>[0] = {}): EventLog {
  const log = new EventLog(params, { form: "all", token: { address: TOKEN, firstBlock: 1 } });
  log.listing(seller, "text.translate");
  log.hire(seller, buyer);
  return log;
}

/** A log with one hire, and a tick. */
const story: typeof begun = (params) => begun(params).after(60).tick();

/** The block of the tick at the end of a log. */
const tickOf = ({ events }: EventLog): number => events.at(-1)?.block ?? 0;

/** What an honest node says of the seller when its log ends here, as of its last tick. */
async function claimOf(log: EventLog, { block = 0 } = {}): Promise<Claim> {
  const { agents, asOf, digest } = snapshotOf((await log.derive()).store);
  return {
    address: seller,
    figures: agents[seller] as object as Claim["figures"],
    coMembers: [],
    asOf: { block: block || asOf.block, digest: String(digest) },
  };
}

/** The verdict on a claim by a log. The records of the log have no signatures, so the log says that contracts accepted them. */
async function verify(log: EventLog, claim: Claim, finalFrom = 0) {
  for (const event of log.events) if (event.kind === "record") Object.assign(event, { erc1271: true });
  const node = await fakeNode(log);
  try {
    const finding = await verifyNode(node.url, claim, () => {}, finalFrom);
    const { kind, text } = verdictOf(finding);
    const { waitsFor, mayWaitFor } = finding;
    return {
      ...{ kind, text },
      ...(waitsFor !== undefined && { waitsFor }),
      ...(mayWaitFor !== undefined && { mayWaitFor }),
    };
  } finally {
    await node.close();
  }
}

describe("a node's figures of an agent", () => {
  const good = { kind: "good", text: "What this node says of the agent, verified in this browser." };

  describe("whose log ends before their block", () => {
    const log = story();
    const last = tickOf(log);

    it("hold as of the last final tick, until the block of the figures is final", async () => {
      const claim = await claimOf(log, { block: last + 150 });
      expect(await verify(log, claim)).to.deep.equal({ ...good, mayWaitFor: last + 150 });
    });

    it("do not hold if the node says that the block is final", async () => {
      const claim = await claimOf(log, { block: last + 150 });
      expect(await verify(log, claim, last + 150)).to.deep.equal({
        kind: "bad",
        text: "The node's log ends before a block that the node itself calls final",
      });
    });

    it("do not hold if the log ends so long before that its newest ticks must be final", async () => {
      expect((await verify(log, await claimOf(log, { block: last + 1_050 }))).kind).to.equal("good");
      expect(await verify(log, await claimOf(log, { block: last + 1_051 }))).to.deep.equal({
        kind: "bad",
        text: "The node's log ends long before the figures that it shows",
      });
    });

    it("do not hold just because the node says that its ticks are very far apart", async () => {
      const slow = story({ tickBlocks: 1_000_000 });
      const kindOf = async (block: number) => (await verify(slow, await claimOf(slow, { block }))).kind;
      expect([await kindOf(last + 10_900), await kindOf(last + 10_901)]).to.deep.equal(["good", "bad"]);
    });

    it("hold for now at a new node, whose log has no tick yet", async () => {
      const young = begun();
      const claim = await claimOf(young, { block: 5_000 });
      expect(await verify(young, claim)).to.deep.equal({ ...good, mayWaitFor: 5_000 });
    });
  });

  describe("that changed after the tick with which they came", () => {
    /** The log up to the tick, up to a hire after it, up to a second hire, and up to the next tick. */
    const [tick, hire, more, next] = [0, 1, 2, 3].map((parts) => {
      const log = story();
      if (parts > 0) log.after(10).hire(seller, buyer);
      if (parts > 1) log.after(10).hire(seller, buyer);
      if (parts > 2) log.after(60).tick();
      return log;
    }) as [EventLog, EventLog, EventLog, EventLog];
    const at = tickOf(tick);

    it("hold if the log gives them before the next tick", async () => {
      for (const log of [tick, hire, more]) {
        const claim = await claimOf(log);
        expect(claim.asOf.block).to.equal(at);
        expect(await verify(next, claim)).to.deep.equal(good);
        // The page may read them after the node's answer to programs.
        const shown = (await claimOf(more)).figures;
        expect(await verify(next, { ...claim, shown })).to.deep.equal(good);
      }
      const figures = await Promise.all([tick, hire].map(async (log) => (await claimOf(log)).figures));
      expect(figures[0]).to.not.deep.equal(figures[1]);
    });

    const undecided = { kind: "info", text: "What decides it is not final yet.", waitsFor: at + 1 };

    it("wait for the next tick if what came after the tick is not final", async () => {
      const claim = await claimOf(more);
      for (const log of [tick, hire]) expect(await verify(log, claim)).to.deep.equal(undecided);
      const withMember = { ...(await claimOf(tick)), coMembers: [buyer] };
      expect(await verify(tick, withMember), "the buyer may join its cluster").to.deep.equal(undecided);
      expect(await verify(more, claim)).to.deep.equal(good);
      expect(await verify(next, claim, at + 1)).to.deep.equal(good);
      expect((await verify(more, claim, at + 1)).kind).to.equal("bad");
    });

    it("do not hold if no state between the two ticks has them", async () => {
      const claim = await claimOf(hire);
      const name = "last_30d_hire_count_raw";
      for (const wrong of [9, 0])
        expect(await verify(next, { ...claim, figures: { ...claim.figures, [name]: wrong } })).to.deep.equal({
          ...{ kind: "bad", text: `${name} is not what the log gives` },
        });
      const other = await claimOf(next);
      const old = { ...claim.asOf, block: at };
      // Figures of the next tick are newer than the tick with which they came, as an answer may be.
      expect(await verify(next, { ...other, asOf: old })).to.deep.equal(good);
      expect(await verify(next, { ...claim, coMembers: [buyer] })).to.deep.equal({
        kind: "bad",
        text: "The node names members that its cluster does not have",
      });
    });

    it("do not hold if the log does not know the agent, and wait for the next tick before", async () => {
      const claim = { ...(await claimOf(tick)), address: wallet(9) };
      expect(await verify(tick, claim)).to.deep.equal(undecided);
      expect(await verify(next, claim)).to.deep.equal({ kind: "bad", text: "The log knows no such agent" });
    });

    it("do not hold as of a block that is no tick of the log", async () => {
      const claim = await claimOf(hire);
      const asOf = { ...claim.asOf, block: at + 1 };
      expect(await verify(next, { ...claim, asOf })).to.deep.equal({
        kind: "bad",
        text: `The figures are as of block ${at + 1}, which is no tick of the node's log`,
      });
    });
  });

  it("are taken from a log as a snapshot of all agents has them", async () => {
    const log = new EventLog();
    const ring = [1, 2, 3, 4].map(wallet);
    for (const member of ring) log.after(1).transfer(wallet(100), member, 1_000_000);
    for (const member of ring) log.after(1, 256).listing(member, "text.translate");
    log.after(60).hire(wallet(1), wallet(5));
    const { store } = await log.after(60).tick().derive();
    const { agents, clusters, ...whole } = snapshotOf(store);
    const [id = ""] = Object.keys(clusters);
    const cluster = clusters[id] as Snapshot["clusters"][string];
    expect(cluster.members).to.have.length(4);
    for (const address of ring)
      expect(agentSnapshot(store, address)).to.deep.equal({
        ...whole,
        ...{ agents: { [address]: agents[address] }, clusters: { [id]: cluster } },
      });
    const buyer = agents[wallet(5)];
    expect(agentSnapshot(store, wallet(5))).to.deep.equal({
      ...{ ...whole, agents: { [wallet(5)]: buyer }, clusters: {} },
    });
    expect(agentSnapshot(store, wallet(6))).to.deep.equal({ ...whole, agents: {}, clusters: {} });
  });
});
