import { expect } from "chai";
import { saveAgents } from "tallystick-derive/agentRow";
import { apply } from "tallystick-derive/apply";
import { openContext } from "tallystick-derive/applyContext";
import type { DeriveEvent } from "tallystick-derive/events";
import { withdrawHire } from "tallystick-derive/hires";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import { EventLog, wallet } from "../eventLog.ts";
import { expectIdentities } from "../oracle/identities.ts";
import { expectSame } from "../relevant/agreement.ts";
import { IDENTITY, LISTED, REPUTATION, RegistryLog, UNLISTED } from "./registryLog.ts";

const [SELLER, BUYER, OTHER, OWNER] = [wallet(1), wallet(2), wallet(3), wallet(9)];

/** The derived rows. They must be equal in both forms of the log and in the oracle. */
async function derive(log: EventLog): Promise<MemoryStore> {
  log.after(1).tick();
  await expectSame(log);
  await expectIdentities(log);
  return (await log.derive()).store;
}

function feedbackOf(store: MemoryStore, id: string): Row<"feedback"> {
  const row = store.rows("feedback").get(id);
  if (row === undefined) throw new Error(`no feedback ${id}`);
  return row;
}

const walletOf = (store: MemoryStore, id = "1") => store.rows("identity").get(id)?.wallet;
const linksOf = (store: MemoryStore) =>
  [...store.rows("identityLink").values()].map((it) => ({
    wallet: it.wallet,
    isOver: it.untilBlock !== null,
    counts: [it.feedback, it.backed, it.self, it.revoked],
  }));

describe("identities, at the boundaries", () => {
  it("belong to the wallet that registered them, until they are sold", async () => {
    const log = new RegistryLog();
    log.register(1, SELLER);
    const kept = await derive(log);
    expect(kept.rows("identity").get("1")).to.include({ owner: SELLER, wallet: SELLER, links: 1 });
    log.after(1).sold(1, SELLER, OTHER);
    const store = await derive(log);
    expect(store.rows("identity").get("1")).to.include({ owner: OTHER, wallet: null, links: 1 });
    expect(linksOf(store)).to.deep.equal([{ wallet: SELLER, isOver: true, counts: [0, 0, 0, 0] }]);
  });

  it("have no wallet if the transaction of their registration also moves the token, whatever event is the last", async () => {
    const log = new RegistryLog();
    log.register(1, SELLER, { meanwhile: (tx) => log.sold(1, SELLER, OTHER, tx) });
    expect(walletOf(await derive(log))).to.equal(null);
    // In a later transaction a wallet is accepted as usual.
    log.after(1).wallet(1, OTHER);
    expect(walletOf(await derive(log))).to.equal(OTHER);
    // The same move in a transaction of its own comes after the registration.
    const apart = new RegistryLog();
    apart.register(1, SELLER, { meanwhile: () => apart.moved(2, SELLER, OTHER) });
    expect(walletOf(await derive(apart))).to.equal(SELLER);
  });

  it("accept only a wallet of twenty bytes that are not all zero, under the key agentWallet", async () => {
    for (const [key, value, expected] of [
      ["agentWallet", OTHER, OTHER],
      ["agentWallet", `0x${"00".repeat(20)}`, null],
      ["agentWallet", "0x", null],
      ["agentWallet", `${OTHER}00`, null],
      ["agentwallet", OTHER, SELLER],
    ] as const) {
      const log = new RegistryLog();
      log.register(1, SELLER);
      log.metadata(1, key, value);
      expect(walletOf(await derive(log)), `${key} ${value}`).to.equal(expected);
    }
  });

  it("are ignored when their mint is missing, together with all feedback about them", async () => {
    const log = new RegistryLog();
    log.sold(1, OWNER, SELLER).wallet(1, SELLER);
    log.feedback(1, BUYER);
    const store = await derive(log);
    for (const table of ["identity", "identityLink", "feedback"] as const)
      expect(store.rows(table).size, table).to.equal(0);
  });

  it("let a hire back only feedback from the time when the hire's seller had the identity", async () => {
    const log = new RegistryLog();
    for (const seller of [SELLER, OTHER]) log.listing(seller, "text.translate");
    log.register(1, SELLER);
    log.after(1).hire(SELLER, BUYER);
    const first = log.feedback(1, BUYER);
    log.after(1).sold(1, SELLER, OWNER).wallet(1, OTHER);
    log.after(1).hire(OTHER, BUYER);
    const second = log.feedback(1, BUYER);
    // A hire of the first seller backs nothing now, because that seller does not have the identity any more.
    log.after(1).hire(SELLER, BUYER);
    const third = log.feedback(1, BUYER);
    const store = await derive(log);
    expect([first, second, third].map((id) => feedbackOf(store, id)).map(toldOf)).to.deep.equal([
      [SELLER, "backed"],
      [OTHER, "backed"],
      [OTHER, "unproven"],
    ]);
    expect(linksOf(store).map(({ counts }) => counts)).to.deep.equal([
      [1, 1, 0, 0],
      [2, 1, 0, 0],
    ]);
  });

  it("have feedback that is about no agent while they have no wallet", async () => {
    const log = new RegistryLog();
    log.register(1, SELLER);
    log.hire(SELLER, BUYER);
    log.wallet(1, null);
    const id = log.feedback(1, BUYER);
    const store = await derive(log);
    expect(toldOf(feedbackOf(store, id))).to.deep.equal([null, "unproven"]);
    log.revoked(id);
    const revoked = await derive(log);
    expect(feedbackOf(revoked, id).isRevoked).to.equal(true);
    // Such feedback never waits for a hire.
    for (const it of [store, revoked]) expect(it.rows("feedbackPair").size).to.equal(0);
  });
});

const toldOf = ({ agent, standing }: Row<"feedback">) => [agent, standing];

describe("feedback, at the boundaries", () => {
  const listed = () => {
    const log = new RegistryLog();
    // The seller acts before it is paid. Otherwise it would be of its first payer's family.
    log.listing(SELLER, "text.translate");
    log.after(1).register(1, SELLER);
    log.after(1);
    return log;
  };
  const standing = async (log: EventLog, id: string) => feedbackOf(await derive(log), id).standing;

  it("is backed by a hire that was paid in the feedback's block or before, whenever the receipt comes", async () => {
    const told = (wait: number) => {
      const log = listed();
      const id = log.feedback(1, BUYER);
      if (wait > 0) log.after(wait);
      const tx = log.transfer(BUYER, SELLER, 500_000, { authorized: true });
      log.after(60).receipt(SELLER, BUYER, { tx });
      return standing(log, id);
    };
    expect(await told(0)).to.equal("backed");
    expect(await told(1)).to.equal("unproven");
  });

  it("is backed by nothing before the receipt, and by its hire from then on", async () => {
    const log = listed();
    const tx = log.transfer(BUYER, SELLER, 500_000, { authorized: true });
    const id = log.after(60).feedback(1, BUYER);
    expect(await standing(log, id)).to.equal("unproven");
    log.after(60).receipt(SELLER, BUYER, { tx });
    expect(await standing(log, id)).to.equal("backed");
  });

  it("is backed by one hire, and a hire backs only one feedback: the oldest that waits", async () => {
    const log = listed();
    const ids = [log.feedback(1, BUYER), log.after(60).feedback(1, BUYER), log.after(60).feedback(1, BUYER)];
    const store = await derive(log);
    expect(ids.map((id) => feedbackOf(store, id).standing)).to.deep.equal(Array(3).fill("unproven"));
    // This hire is paid before all feedback, and its receipt comes after all feedback.
    const early = listed();
    const tx = early.transfer(BUYER, SELLER, 500_000, { authorized: true });
    const waiting = [early.after(60).feedback(1, BUYER), early.after(60).feedback(1, BUYER)];
    early.after(60).receipt(SELLER, BUYER, { tx });
    const later = await derive(early);
    expect(waiting.map((id) => feedbackOf(later, id).standing)).to.deep.equal(["backed", "unproven"]);
    expect(feedbackOf(later, waiting[0] ?? "").hire).to.equal(`${tx}-${hireLog(early)}`);
  });

  it("gives its hire to the next feedback when it is revoked", async () => {
    const log = listed();
    log.hire(SELLER, BUYER);
    const [first, second] = [log.feedback(1, BUYER), log.feedback(1, BUYER)];
    log.after(1).revoked(first);
    const store = await derive(log);
    expect(
      [first, second].map((id) => feedbackOf(store, id)).map((it) => [it.standing, it.isRevoked]),
    ).to.deep.equal([
      ["unproven", true],
      ["backed", false],
    ]);
    // A waiting feedback that is revoked does not wait any more. A repeated event changes nothing.
    const waits = listed();
    const [third, fourth] = [waits.feedback(1, BUYER), waits.feedback(1, BUYER)];
    waits.revoked(third).revoked(third);
    const tx = waits.transfer(BUYER, SELLER, 500_000, { authorized: true });
    waits.receipt(SELLER, BUYER, { tx });
    const after = await derive(waits);
    expect([third, fourth].map((id) => feedbackOf(after, id).standing)).to.deep.equal(["unproven", "backed"]);
    expect(linksOf(after)[0]?.counts).to.deep.equal([2, 1, 0, 1]);
  });

  it("is not changed by responses", async () => {
    const log = listed();
    const id = log.feedback(1, BUYER);
    log.responded(id, SELLER).responded(id, wallet(77)).responded(`1/${BUYER}/9`, SELLER);
    const store = await derive(log);
    expect(feedbackOf(store, id)).to.include({ standing: "unproven", responses: 2, isRevoked: false });
    expect([...store.rows("feedbackResponse").values()].map((it) => it.responder)).to.deep.equal([
      SELLER,
      wallet(77),
    ]);
  });

  it("counts as the identity's own if it comes from a present or former wallet or owner of the identity", async () => {
    const log = listed();
    log.wallet(1, OTHER);
    const [agent, owner] = [log.feedback(1, OTHER), log.feedback(1, SELLER)];
    log.after(1).sold(1, SELLER, OWNER).wallet(1, wallet(8));
    const former = [SELLER, OTHER].map((it) => log.feedback(1, it));
    const store = await derive(log);
    const reasons = [agent, owner, ...former].map((id) => feedbackOf(store, id).selfReason);
    expect(reasons).to.deep.equal(["agent", "owner", "former", "former"]);
  });

  it("counts as the identity's own within a cluster, a buyer group or a family, also if a receipt shows the family only later", async () => {
    const ring = listed();
    for (const n of [1, 2, 4, 5]) ring.transfer(wallet(100), wallet(n), 10_000_000);
    for (const n of [1, 2, 4, 5]) ring.after(1).listing(wallet(n), "text.translate");
    ring.hire(SELLER, BUYER);
    const clustered = ring.feedback(1, BUYER);
    expect(feedbackOf(await derive(ring), clustered)).to.include({ standing: "self", selfReason: "cluster" });

    // The client has the same listings as a member of the agent's ring. Client and agent are one buyer, but share no cluster.
    const chain = listed();
    for (const n of [1, 4, 5, 6]) chain.transfer(wallet(100), wallet(n), 10_000_000);
    for (const n of [1, 4, 5, 6]) chain.after(1).listing(wallet(n), "text.translate");
    for (const n of [6, 2, 7, 8])
      chain.after(1, 300).listing(wallet(n), "text.summarize", { endpoint: `https://${wallet(6)}.example` });
    for (const n of [2, 7, 8])
      chain.after(1, 300).listing(wallet(n), "text.translate", { endpoint: `https://${wallet(6)}.example` });
    const buyers = chain.after(1).feedback(1, BUYER);
    expect(feedbackOf(await derive(chain), buyers)).to.include({ standing: "self", selfReason: "buyers" });

    const kin = new RegistryLog();
    kin.transfer(wallet(100), SELLER, 10_000_000);
    kin.listing(SELLER, "text.translate");
    kin.after(1).register(1, SELLER);
    kin.transfer(wallet(100), BUYER, 10_000_000);
    const tx = kin.after(1).transfer(BUYER, SELLER, 500_000, { authorized: true });
    const early = kin.feedback(1, BUYER);
    expect(feedbackOf(await derive(kin), early)).to.include({ standing: "unproven", selfReason: null });
    kin.after(1).receipt(SELLER, BUYER, { tx });
    const late = kin.feedback(1, BUYER);
    const store = await derive(kin);
    expect(feedbackOf(store, early)).to.include({ standing: "self", selfReason: "family", hire: null });
    expect(feedbackOf(store, late)).to.include({ standing: "self", selfReason: "family" });

    // A registration before the money comes does not hide a family, whether another wallet or the seller sends the money.
    for (const funder of [wallet(100), SELLER]) {
      const hidden = new RegistryLog();
      hidden.transfer(wallet(100), SELLER, 10_000_000);
      for (const it of [SELLER, BUYER])
        hidden.listing(it, "text.translate", { endpoint: `https://${it}.example` });
      hidden.after(1).register(1, SELLER);
      hidden.transfer(funder, BUYER, 5_000_000);
      hidden.after(1).hire(SELLER, BUYER);
      const id = hidden.feedback(1, BUYER);
      expect(feedbackOf(await derive(hidden), id)).to.include({ standing: "self", selfReason: "family" });
    }
  });

  it("is of no family that only another rule asked for: a payee's family counts from the payee's own first hire on", async () => {
    const log = new RegistryLog();
    const payee = wallet(7);
    for (const it of [SELLER, payee]) log.after(2).transfer(wallet(100), it, 10_000_000);
    log.listing(SELLER, "text.translate");
    log.register(1, SELLER);
    log.after(1).hire(SELLER, wallet(5));
    log.listing(OTHER, "text.translate", { payee, payee_signature: "0x02" });
    const tx = log.after(1).transfer(BUYER, payee, 500_000, { authorized: true });
    log.receipt(OTHER, BUYER, { tx, payee });
    const before = log.after(1).feedback(1, payee);
    const store = await derive(log);
    expect(store.rows("registeredMember").get(payee)?.family).to.equal(wallet(100));
    expect(store.rows("hire").size).to.equal(2);
    expect(feedbackOf(store, before)).to.include({ standing: "unproven", selfReason: null });
    log.after(1).hire(OTHER, payee);
    const after = log.feedback(1, payee);
    expect(feedbackOf(await derive(log), after)).to.include({ standing: "self", selfReason: "family" });
  });

  it("loses its hire, and gets another hire or none, if an operator of audits arranged that hire", async () => {
    const log = listed();
    const paid = [log.hire(SELLER, BUYER), log.after(1).hire(SELLER, BUYER)];
    const id = log.feedback(1, BUYER);
    const { store } = await log.derive();
    const hires = paid.map((receipt) => store.rows("receipt").get(receipt)?.hire ?? "");
    expect(feedbackOf(store, id).hire).to.equal(hires[0]);
    const withdraw = async (hire = "") => {
      const context = await openContext(store, { kind: "tick", block: log.block, time: log.time });
      withdrawHire(context, hire);
      saveAgents(context);
    };
    await withdraw(hires[0]);
    expect(feedbackOf(store, id)).to.include({ standing: "backed", hire: hires[1] });
    await withdraw(hires[1]);
    expect(feedbackOf(store, id)).to.include({ standing: "unproven", hire: null });
    expect(linksOf(store)[0]?.counts).to.deep.equal([1, 0, 0, 0]);
  });

  it("gets no hire that was paid after the feedback, also if an operator arranged the feedback's own hire", async () => {
    const log = listed();
    const arranged = log.hire(SELLER, BUYER);
    const id = log.feedback(1, BUYER);
    const later = log.after(1).hire(SELLER, BUYER);
    const { store } = await log.derive();
    const hireOf = (receipt: string) => store.rows("receipt").get(receipt)?.hire ?? "";
    const context = await openContext(store, { kind: "tick", block: log.block, time: log.time });
    withdrawHire(context, hireOf(arranged));
    saveAgents(context);
    expect(feedbackOf(store, id)).to.include({ standing: "unproven", hire: null });
    expect(store.rows("backing").has(hireOf(later))).to.equal(false);
  });

  it("gets no hire that an operator arranged while no feedback had the hire; the next feedback gets the next hire", async () => {
    const log = listed();
    const first = log.hire(SELLER, BUYER);
    const early = log.feedback(1, BUYER);
    const [arranged, last] = [log.after(1).hire(SELLER, BUYER), log.after(1).hire(SELLER, BUYER)];
    const { store } = await log.derive();
    const hireOf = (receipt: string) => store.rows("receipt").get(receipt)?.hire ?? "";
    const taken = () => store.rows("feedbackPair").get(`${SELLER}/${BUYER}`)?.taken;
    const context = await openContext(store, { kind: "tick", block: log.block, time: log.time });
    withdrawHire(context, hireOf(arranged));
    expect(taken()).to.equal(1);
    // The early feedback looks for another hire. It passes the arranged one, and the last one is too late.
    withdrawHire(context, hireOf(first));
    saveAgents(context);
    expect(feedbackOf(store, early)).to.include({ standing: "unproven", hire: null });
    expect(taken()).to.equal(2);
    const late = log.feedback(1, BUYER);
    apply(store, log.events.at(-1) as DeriveEvent, { trustSignatures: true });
    expect(feedbackOf(store, late)).to.include({ standing: "backed", hire: hireOf(last) });
    expect(taken()).to.equal(3);
  });

  it("waits for a hire; for each pair of agent and client at most 100 wait", async () => {
    const log = listed();
    const paid = Array.from({ length: 101 }, () =>
      log.transfer(BUYER, SELLER, 500_000, { authorized: true, tx: log.hash() }),
    );
    const ids = paid.map(() => log.feedback(1, BUYER));
    for (const tx of paid) log.after(1).receipt(SELLER, BUYER, { tx });
    const { store } = await log.derive();
    expect(ids.map((id) => feedbackOf(store, id).standing)).to.deep.equal([
      ...Array(100).fill("backed"),
      "unproven",
    ]);
    // The hire that is left over backs the next feedback.
    const next = log.feedback(1, BUYER);
    expect(feedbackOf((await log.derive()).store, next).standing).to.equal("backed");
  });
});

describe("registries as a source of events, at the boundaries", () => {
  const sizes = (store: MemoryStore) => [store.rows("identity").size, store.rows("feedback").size];
  const status = (store: MemoryStore) => [...store.rows("registry").values()].map((it) => it.status);
  const say = (log: RegistryLog, n: number) => {
    log.register(n, wallet(20 + n));
    log.feedback(n, BUYER);
  };

  it("are read from their first listed implementation on, and never again after an unlisted one", async () => {
    const log = new RegistryLog({}, false);
    say(log, 1);
    // An implementation that is not listed ends nothing before the first listed one.
    log.upgraded(IDENTITY, UNLISTED).upgraded(REPUTATION, UNLISTED);
    say(log, 2);
    const before = await derive(log);
    expect([sizes(before), status(before)]).to.deep.equal([
      [0, 0],
      ["waiting", "waiting"],
    ]);
    log.upgraded(IDENTITY).upgraded(REPUTATION);
    say(log, 3);
    log.upgraded(IDENTITY, LISTED);
    say(log, 4);
    const read = await derive(log);
    expect([sizes(read), status(read)]).to.deep.equal([
      [2, 2],
      ["read", "read"],
    ]);
    log.after(1).upgraded(REPUTATION, UNLISTED);
    say(log, 5);
    log.upgraded(REPUTATION, LISTED);
    say(log, 6);
    const over = await derive(log);
    expect([sizes(over), status(over)]).to.deep.equal([
      [2, 2],
      ["read", "unread"],
    ]);
    expect(over.rows("registry").get("reputation")).to.include({
      implementation: LISTED,
      address: REPUTATION,
    });
  });

  it("are the ones that the log names, each for its own events", async () => {
    const log = new RegistryLog();
    log.register(1, SELLER);
    const said = log.feedback(1, BUYER);
    for (const event of log.events.splice(3)) {
      const isOfIdentity = event.kind.startsWith("identity.");
      log.events.push({ ...event, registry: isOfIdentity ? REPUTATION : IDENTITY } as typeof event);
    }
    expect(sizes(await derive(log)), said).to.deep.equal([0, 0]);
    // A log that names no registries has no rows of registries.
    const none = new EventLog();
    for (const event of new RegistryLog().events.slice(1)) none.push({ ...event, block: none.block });
    expect((await none.tick().derive()).store.rows("registry").size).to.equal(0);
  });
});

function hireLog(log: EventLog): number {
  const paid = log.events.find((it) => it.kind === "transfer");
  return paid?.kind === "transfer" ? paid.log : -1;
}
