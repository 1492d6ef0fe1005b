import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { type InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { type SignedRecord, signRecord } from "tallystick-protocol/records/record";
import { readSignatureHere } from "tallystick-runtime/signatures/readSignature";
import { HeldProposals } from "../../../services/settlement/engine/heldProposals.ts";
import { parseRules } from "../../../services/settlement/engine/institutionalRules.ts";
import { LedgerClock } from "../../../services/settlement/engine/ledgerClock.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import type { Proposal } from "../../../services/settlement/engine/proposal.ts";
import { CLOCK_TOLERANCE, checkRecord } from "../../../services/settlement/engine/recordRules.ts";
import { RuleBook } from "../../../services/settlement/engine/ruleBook.ts";
import {
  type SettledRecord,
  SettlementEngine,
  type SettlementEngineParameters,
} from "../../../services/settlement/engine/settlementEngine.ts";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";
import { outcomeUnknown } from "../../../services/settlement/standby/storeErrors.ts";
import { faultyDisk } from "../support/faultyDisk.ts";
import { buyer, listingBody, receiptBody, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW } from "../support/testService.ts";

const RULES = {
  version: 1,
  actions: {
    pay: { budget: [{ field: "usd", max: "100", per_seconds: 3_600 }] },
    stop: { allow: false },
    "*": { allow: false },
  },
  comparators: [{ path: "summary", comparator: "normalised" }],
};
const NOBODY = { claimAttestor: undefined, receiptOf: async () => undefined };
const ruleBookOf = () =>
  new RuleBook(
    parseRules(parsePythonJson(JSON.stringify(RULES)), { minConfidence: 0.85, maxDriftAllowed: 0.15 }),
  );

describe("what an engine settles", () => {
  const folder = temporaryFolder();
  let ledger: DiskLedger;
  let held: HeldProposals;
  let gate: LedgerGate;
  let index: LedgerIndex;
  let disk: ReturnType<typeof faultyDisk>;
  let rejected: string[];
  let engineIn: (
    mode: SettlementEngineParameters["mode"],
    more?: Partial<SettlementEngineParameters>,
  ) => SettlementEngine;
  let engine: SettlementEngine;

  async function start(): Promise<void> {
    index = new LedgerIndex();
    const ruleBook = ruleBookOf();
    rejected = [];
    disk = faultyDisk();
    ledger = await DiskLedger.open({
      folder: folder.path,
      openFile: disk.openFile,
      onEntry: (entry, at) => {
        index.add(entry, at);
        ruleBook.add(entry);
      },
    });
    held = await HeldProposals.open(folder.path, () => {});
    gate = new LedgerGate(() => {});
    const clock = new LedgerClock({ now: () => NOW, gate, limitSeconds: 0 });
    engineIn = (mode = "production", more = {}) =>
      new SettlementEngine({
        ...{ ledger, ledgerName: "local", index, held, ruleBook, clock, mode, now: () => NOW },
        operator: seller.address.toLowerCase() as `0x${string}`,
        rejected: { add: async ({ agent }: { agent: string }) => void rejected.push(agent) } as never,
        ...more,
      });
    engine = engineIn("production");
  }
  async function stop(): Promise<void> {
    await held.close();
    await ledger.close();
  }
  beforeEach(start);
  afterEach(stop);

  const proposal = (dataUpdate: { [key: string]: PyJson }, changes: Partial<Proposal> = {}): Proposal => ({
    ...{ taskId: "task-1", parentHash: ledger.nextParent, agentMetadata: { model: "m", version: "1" } },
    ...{ dataUpdate, confidenceScore: 0.9, ...changes },
  });
  const pay = (usd: bigint, changes: Partial<Proposal> = {}) => proposal({ action: "pay", usd }, changes);
  const doubt = { dataUpdate: { nothing: "alike" } };
  const hold = async (given: Proposal): Promise<string> => {
    const outcome = await engine.settle(given, doubt);
    if (outcome.status !== "ESCROWED") return expect.fail(outcome.status);
    return outcome.id;
  };
  const release = (id: string) =>
    signRecord({
      ...{ type: "review", ledger: "local" as const, account: seller },
      body: { proposal: id, decision: "release", reason: "looked at it" },
    });
  const payloads = async (): Promise<LedgerEntry["payload"][]> =>
    Promise.all(Array.from({ length: ledger.size }, async (_, at) => (await ledger.entry(at)).payload));

  it("does not spend a budget twice while the entry before is on its way to the disk", async () => {
    const first = engine.settle(pay(60n));
    // The first entry is the next parent already, but the rules do not know of it yet.
    const second = engine.settle(pay(60n));
    expect([(await first).status, (await second).status]).to.deep.equal(["SETTLED", "REJECTED"]);
    expect((await engine.settle(pay(40n))).status).to.equal("SETTLED");
  });

  it("is unknown to its sender while the shared store does not answer, and is settled once when it does", async () => {
    const store = Promise.withResolvers<void>();
    ledger.commitBy(() => store.promise);
    const late = engineIn("production", { answerWithinMs: 20 });
    const record = await signRecord({ type: "listing", body: listingBody(), account: seller });
    const codeOf = (work: Promise<unknown>) => work.catch(({ code }: TallystickError) => code);
    const sent = [late.settle(pay(1n)), late.settleRecord(record), late.settleRecord(record)];
    expect(await Promise.all(sent.map(codeOf))).to.deep.equal(Array(3).fill("outcome_unknown"));
    store.resolve();
    // The disk may need more than 20 ms.
    while (ledger.size < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(await late.settleRecord(record)).to.include({ known: true, index: 1 });
    expect(await engine.settle(pay(2n))).to.include({ status: "SETTLED", index: 2 });
    expect(ledger.size).to.equal(3);
  });

  it("is only checked in a sandbox, which holds, releases and writes nothing", async () => {
    const sandbox = engineIn("sandbox");
    const checked = { status: "VALIDATED", mode: "sandbox" };
    expect(await sandbox.settle(pay(1n))).to.deep.equal(checked);
    expect(await sandbox.settle(pay(1n), doubt)).to.include({ status: "ESCROWED", divergence: 1 });
    expect(held.size).to.equal(0);
    const id = await hold(pay(1n));
    const review = await release(id);
    expect(await sandbox.settleReview(review)).to.deep.equal(checked);
    expect([held.waiting, ledger.size]).to.deep.equal([1, 0]);
    await engine.settleRecord(review);
    expect(await sandbox.finishReleases()).to.deep.equal([]);
    expect(ledger.size).to.equal(1);
  });

  it("says what is wrong with a review that the rules do not allow, or that contradicts another", async () => {
    const id = await hold(pay(60n));
    await engine.settle(pay(60n));
    const refused = await engine.settleReview(await release(id)).catch((error: unknown) => error);
    expect(refused).to.include({
      code: "rules_refuse",
      hint: "Review it again when the rules allow it, or reject it. Nothing was written.",
    });
    expect(refused)
      .to.have.property("message")
      .that.matches(/^The rules do not allow it now: payload\.data_update\.usd: /);
    const decide = (decision: string) =>
      signRecord({
        ...{ type: "review", ledger: "local" as const, account: seller },
        body: { proposal: id, decision, reason: "looked at it" },
      });
    const first = await engine.settleReview(await decide("reject"));
    expect(first).to.include({ status: "SETTLED", known: false }).and.not.to.have.property("released");
    expect(held.waiting).to.equal(0);
    const { hash, index, timestamp } = first as SettledRecord;
    const other = await engine.settleReview(await decide("release")).catch((error: unknown) => error);
    expect(other).to.deep.include({
      code: "conflicting_record",
      message: "The ledger has another review for the same thing.",
      hint: "A settled record never changes. Read it at GET /v1/ledger/entries?from=index&to=index+1.",
      details: { existing: { hash, index, timestamp } },
    });
    const unknown = await release("ab".repeat(32));
    expect(await engine.settleReview(unknown).catch((error: unknown) => error)).to.include({
      code: "unknown_held",
    });
  });

  it("is not held while writes are refused", async () => {
    gate.close("store", new TallystickError({ code: "store_unavailable", message: "It is away." }));
    const refused = await engine.settle(pay(1n), doubt).catch((error: unknown) => error);
    expect(refused).to.include({ code: "store_unavailable" });
    expect(held.size).to.equal(0);
  });

  it("is held once, by one line, however often it comes at once", async () => {
    const given = pay(1n);
    const ids = await Promise.all([hold(given), hold(given), hold(given)]);
    expect(new Set(ids)).to.have.property("size", 1);
    const text = readFileSync(path.join(folder.path, "held.jsonl"), "latin1");
    expect(text.split("\n")).to.have.length(2);
  });

  it("is not held any more if its line is cut off, and the next held proposal gets its own line", async () => {
    const lost = await hold(pay(1n));
    await stop();
    const file = path.join(folder.path, "held.jsonl");
    writeFileSync(file, readFileSync(file, "latin1").trimEnd());
    await start();
    expect(held.get(lost)).to.equal(undefined);
    const id = await hold(pay(2n));
    await stop();
    await start();
    expect((await held.content(id)).payload).to.deep.include({ data_update: { action: "pay", usd: 2n } });
    expect(held.size).to.equal(1);
  });

  it("is released once for any number of reviews, at once or later, even if its budget is spent by then", async () => {
    const id = await hold(pay(60n));
    const review = await release(id);
    const answers = await Promise.all([engine.settleReview(review), engine.settleReview(review)]);
    answers.push(await engine.settleReview(review));
    const released = answers.map((it) => ("released" in it ? it.released?.index : undefined));
    expect(released).to.deep.equal([1, 1, 1]);
    expect(ledger.size).to.equal(2);
    expect((await engine.settle(pay(41n))).status).to.equal("REJECTED");
  });

  it("takes nothing from a budget and says nothing of it for a review with a forged signature", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<boolean>();
    const isContractSignature = () => {
      asked.resolve();
      return answer.promise;
    };
    const asking = engineIn("production", { isContractSignature });
    const forged = { ...(await release(await hold(pay(60n)))), signature: `0x${"ab".repeat(65)}` as const };
    const codeOf = (work: Promise<unknown>) => work.catch(({ code }: TallystickError) => code);
    const first = codeOf(asking.settleReview(forged));
    await asked.promise;
    // The chain has not answered yet. The whole budget is still there for honest agents.
    expect((await asking.settle(pay(100n))).status).to.equal("SETTLED");
    answer.resolve(false);
    // The budget is spent now, and the answer is the same.
    expect([await first, await codeOf(asking.settleReview(forged))]).to.deep.equal([
      "invalid_signature",
      "invalid_signature",
    ]);
    const other = await signRecord({
      ...{ type: "review", ledger: "local" as const, account: buyer, body: forged.body },
    });
    expect(await codeOf(asking.settleReview(other))).to.equal("invalid_input");
    expect(ledger.size).to.equal(1);
  });

  it("has an unknown outcome, and not none, until the shared store answers or this process ends", async () => {
    const codeOf = (work: Promise<unknown>) => work.catch(({ code }: TallystickError) => code);
    const store = Promise.withResolvers<void>();
    let commit = () => store.promise;
    ledger.commitBy(() => commit());
    const late = engineIn("production", { answerWithinMs: 20 });
    expect(await codeOf(late.settle(pay(1n)))).to.equal("outcome_unknown");
    expect(await codeOf(late.certainOf("task-1"))).to.equal("outcome_unknown");
    await late.certainOf("task-2");
    const patient = engine.settle(pay(1n, { taskId: "task-2" }));
    const certain = engine.certainOf("task-2");
    store.resolve();
    // The disk may need more than 20 ms.
    await certain;
    await late.certainOf("task-1");
    expect([(await patient).status, ledger.size]).to.deep.equal(["SETTLED", 2]);

    commit = async () => {
      throw outcomeUnknown(new Error("the lease is lost"));
    };
    for (const work of [() => engine.settle(pay(1n)), () => engine.certainOf("task-1")])
      expect(await codeOf(work())).to.equal("outcome_unknown");
    // A later proposal of the task that is surely not written says nothing of the one before.
    expect(await codeOf(engine.settle(pay(2n)))).to.equal("ledger_unavailable");
    expect(await codeOf(engine.certainOf("task-1"))).to.equal("outcome_unknown");
  });

  it("is not certain, and keeps its part of a budget, while its release is on its way", async () => {
    const id = await hold(pay(60n));
    const [begun, store] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let groups = 0;
    // The review is written at once, and the release waits.
    ledger.commitBy(async () => {
      if (++groups === 1) return;
      begun.resolve();
      await store.promise;
    });
    const released = engine.settleReview(await release(id));
    await begun.promise;
    expect((await engine.settle(pay(41n))).status).to.equal("REJECTED");
    let isCertain = false;
    const certain = engine.certainOf("task-1").then(() => {
      isCertain = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isCertain).to.equal(false);
    store.resolve();
    await certain;
    expect(await released).to.have.nested.property("released.index", 1);
  });

  it("keeps its part of a budget while nobody knows whether its release is settled", async () => {
    const id = await hold(pay(60n));
    const review = await release(id);
    const store = Promise.withResolvers<void>();
    ledger.commitBy(() => store.promise);
    const late = engineIn("production", { answerWithinMs: 1 });
    const codeOf = (work: Promise<unknown>) => work.catch(({ code }: TallystickError) => code);
    expect(await codeOf(late.settleReview(review))).to.equal("outcome_unknown");
    expect((await late.settle(pay(41n))).status).to.equal("REJECTED");
    store.resolve();
    // Nobody asks for the release any more, and it is settled.
    while (ledger.size < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(await engine.settleReview(review)).to.have.nested.property("released.index", 1);
  });

  describe("if the disk has room for the review, and none for what it releases", () => {
    let id: string;
    let review: SignedRecord;
    let answer: TallystickError;
    beforeEach(async () => {
      id = await hold(pay(60n, { proof: "x".repeat(3_000) }));
      review = await release(id);
      disk.faults.free = 2_000;
      answer = (await engine.settleReview(review).catch((error: unknown) => error)) as TallystickError;
      disk.faults.free = Number.POSITIVE_INFINITY;
      expect(ledger.size).to.equal(1);
    });

    it("says that the review is settled and its release is not, and settles the release with the same review", async () => {
      expect(answer).to.include({ code: "outcome_unknown" });
      expect(answer.message).to.match(
        /^The review is settled, and what it releases is not settled yet\. The ledger cannot be written: ENOSPC/,
      );
      expect(answer.hint).to.match(/^Send the same review again/);
      expect(await engine.settleReview(review)).to.have.nested.property("released.index", 1);
    });

    it("keeps its part of a budget until the release is settled, also after a restart", async () => {
      const status = async (usd: bigint) => (await engine.settle(pay(usd))).status;
      expect(await status(41n)).to.equal("REJECTED");
      await stop();
      await start();
      // A ledger that may not be written at the start finishes its releases later.
      await engine.reserveReleases();
      expect(await status(41n)).to.equal("REJECTED");
      expect(await engine.finishReleases()).to.deep.equal([]);
      expect([ledger.size, await status(41n), await status(40n)]).to.deep.equal([2, "REJECTED", "SETTLED"]);
    });

    it("reserves no part of a budget for a release that is settled at the same moment", async () => {
      await stop();
      await start();
      const content = held.content.bind(held);
      let reads = 0;
      // The first read of the disk takes longer than it takes to settle the release.
      held.content = async (of) => {
        const isFirst = reads++ === 0;
        const found = await content(of);
        if (isFirst) await new Promise((resolve) => setTimeout(resolve, 500));
        return found;
      };
      // The ledger may be written before the start has reserved everything.
      await Promise.all([engine.reserveReleases(), engine.finishReleases()]);
      expect((await engine.settle(pay(40n))).status).to.equal("SETTLED");
    });

    it("gives its part of a budget back if the release cannot be settled here any more", async () => {
      const file = path.join(folder.path, "held.jsonl");
      writeFileSync(file, readFileSync(file, "latin1").replace('"usd": 60', '"usd": 10'));
      expect((await engine.finishReleases()).map((it) => it.id)).to.deep.equal([id]);
      expect((await engine.settle(pay(100n))).status).to.equal("SETTLED");
    });
  });

  it("gives its part of a budget back if its review cannot be written", async () => {
    const id = await hold(pay(60n));
    disk.faults.free = 0;
    const refused = await engine.settleReview(await release(id)).catch((error: unknown) => error);
    expect(refused).to.include({ code: "ledger_unavailable" });
    disk.faults.free = Number.POSITIVE_INFINITY;
    expect((await engine.settle(pay(100n))).status).to.equal("SETTLED");
  });

  it("is checked again if the record before it, which had the same key, could not be written", async () => {
    const id = await hold(pay(1n));
    const review = await release(id);
    const strange = await signRecord({
      ...{ type: "review", ledger: "local" as const, account: buyer, body: review.body },
    });
    const reading = Promise.withResolvers<void>();
    const append = ledger.append.bind(ledger);
    const write = Promise.withResolvers<void>();
    ledger.append = () => {
      ledger.append = append;
      return { entry: {} as LedgerEntry, index: 0, durable: write.promise };
    };
    const slow = Promise.withResolvers<void>();
    const read = readSignatureHere();
    const one = engineIn("production", {
      readSignature: async (body, signature) => {
        if (signature === strange.signature) {
          reading.resolve();
          await slow.promise;
        }
        return read(body, signature);
      },
    });
    const codeOf = (work: Promise<unknown>) => work.catch(({ code }: TallystickError) => code);
    const refused = codeOf(one.settleReview(review));
    while (ledger.append !== append) await new Promise((resolve) => setImmediate(resolve));
    // The rules say nothing about this one, because a review of the proposal is being written.
    const stranger = codeOf(one.settleReview(strange));
    await reading.promise;
    write.reject(new TallystickError({ code: "ledger_unavailable", message: "The disk is full." }));
    expect(await refused).to.equal("ledger_unavailable");
    slow.resolve();
    expect(await stranger).to.equal("invalid_input");
    expect(ledger.size).to.equal(0);
    expect(await one.settleReview(review)).to.have.nested.property("released.index", 1);
  });

  it("is settled once for each proposal when several are released at the same time", async () => {
    const reviews = await Promise.all([pay(1n), pay(2n), pay(3n)].map(async (it) => release(await hold(it))));
    await Promise.all([...reviews.map((review) => engine.settleReview(review)), engine.finishReleases()]);
    const amounts = (await payloads()).flatMap((it) => (it.type === "settlement" ? [it.data_update] : []));
    expect(amounts).to.have.length(3);
    expect(ledger.size).to.equal(6);
  });

  it("is not released if its entry would be too long, and such a proposal does not delay others", async () => {
    // An earlier version held such proposals.
    const long = { ...pay(1n), proof: "x".repeat(65_536) };
    const { id } = await held.hold(long, doubt, { divergence: 1, timestamp: NOW });
    const review = await release(id);
    expect(await engine.settleReview(review).catch((error: unknown) => error)).to.include({
      code: "payload_too_large",
    });
    expect(ledger.size).to.equal(0);
    await engine.settleRecord(review);
    expect((await engine.settleReview(await release(await hold(pay(2n))))).status).to.equal("SETTLED");
    const left = await engine.finishReleases();
    expect(left.map((it) => [it.id, it.reason.code])).to.deep.equal([[id, "payload_too_large"]]);
    expect(ledger.size).to.equal(3);
  });

  it("records how much the shadow of a named agent's work differed, also when a person released the work", async () => {
    const agent = buyer.address.toLowerCase() as `0x${string}`;
    await engine.settleReview(await release(await hold(pay(1n, { agent }))));
    await engine.settleReview(await release(await hold(pay(2n))));
    const [, named, , unnamed] = await payloads();
    expect(named).to.include({ agent, divergence: 1 });
    expect(unnamed).not.to.have.property("divergence");
  });

  it("records how much the shadow of a named agent's work differed if it is settled at once", async () => {
    const agent = buyer.address.toLowerCase() as `0x${string}`;
    const near = { dataUpdate: { action: "pay", usd: 10n, a: 1n, b: 1n, c: 1n, d: 1n, e: 1n, f: 2n } };
    const given = { ...near.dataUpdate, f: 1n };
    for (const [changes, shadow] of [
      [{ agent }, near],
      [{}, near],
      [{ agent }, undefined],
    ] as const)
      expect((await engine.settle(proposal(given, changes), shadow)).status).to.equal("SETTLED");
    const [named, unnamed, alone] = await payloads();
    expect(named?.divergence).to.be.a("number").within(0.001, 0.15);
    expect(unnamed).not.to.have.property("divergence");
    expect(alone).not.to.have.property("divergence");
  });

  it("has what the comparators of the rules said of its texts, and of a held proposal too", async () => {
    const texts = (summary: string) => ({ action: "pay", usd: 1n, summary });
    const equal = { path: "summary", comparator: "normalised", equal: true, shadow: "all  PAID" };
    const settled = await engine.settle(proposal(texts("All paid.")), { dataUpdate: texts("all  PAID") });
    expect(settled.status).to.equal("SETTLED");
    const far = (await engine.settle(proposal(texts("All paid.")), { dataUpdate: texts("Nothing") })) as {
      status: string;
      id: string;
    };
    const [payload] = await payloads();
    expect(payload?.comparisons).to.deep.equal([equal]);
    expect(far.status).to.equal("ESCROWED");
    const { payload: kept } = await held.content(far.id);
    expect(kept.comparisons).to.deep.equal([{ ...equal, equal: false, shadow: "Nothing" }]);
  });

  it("is the review alone if what it releases cannot be settled here any more", async () => {
    const id = await hold(pay(60n));
    const { content } = held;
    let reads = 0;
    held.content = async (of) => {
      if (reads++ > 0) throw new TallystickError({ code: "held_corrupt", message: "It is damaged." });
      return await content.call(held, of);
    };
    const answer = await engine.settleReview(await release(id));
    expect(answer)
      .to.include({ status: "SETTLED", known: false, index: 0 })
      .and.not.have.property("released");
    held.content = content;
    // Nothing of the budget stays reserved for it.
    expect((await engine.settle(pay(100n))).status).to.equal("SETTLED");
  });

  it("is a rating only of a receipt in this ledger", async () => {
    const receipt = await signRecord({ type: "receipt", body: receiptBody(), account: seller });
    const listing = await signRecord({ type: "listing", body: listingBody(), account: seller });
    const { hash } = (await engine.settleRecord(receipt)) as SettledRecord;
    const { hash: other } = (await engine.settleRecord(listing)) as SettledRecord;
    const rate = async (of: string, by = engine) => {
      const body = { receipt: of, side: "buyer", stars: 5 };
      const record = await signRecord({ type: "rating", ledger: "local", body, account: buyer });
      return by.settleRecord(record).then(
        ({ status }) => status,
        ({ code }: TallystickError) => code,
      );
    };
    expect(await rate("ab".repeat(32))).to.equal("unknown_receipt");
    expect(await rate(other)).to.equal("unknown_receipt");
    expect(await rate(hash)).to.equal("SETTLED");
    // Two hashes may have one place in the index.
    const { indexOfHash } = index;
    index.indexOfHash = () => 0;
    expect(await rate(other)).to.equal("unknown_receipt");
    index.indexOfHash = indexOfHash;
  });

  it("counts a rejection for its agent, and none in a sandbox", async () => {
    const agent = buyer.address.toLowerCase() as `0x${string}`;
    for (const mode of ["sandbox", "production"] as const) {
      const one = engineIn(mode);
      expect((await one.settle(pay(1n, { agent, confidenceScore: 0.1 }))).status).to.equal("REJECTED");
      expect((await one.settle(pay(101n, { agent }))).status).to.equal("REJECTED");
      expect(rejected, mode).to.deep.equal(mode === "sandbox" ? [] : [agent, agent]);
    }
  });

  it("needs the permission of a rule; for an action without a rule, the permission of the action rules is enough", async () => {
    const allowed = { isPermitted: true };
    const status = async (action: string, how = {}) =>
      (await engine.settle(proposal({ action }), undefined, how)).status;
    expect(await status("other")).to.equal("REJECTED");
    expect(await status("stop", allowed)).to.equal("REJECTED");
    expect(await status("other", allowed)).to.equal("SETTLED");
  });
});

describe("a record of an hour's outcomes", () => {
  it("is accepted when the hour is over, and not before; the clock may be five minutes late", async () => {
    const operator = seller.address.toLowerCase() as `0x${string}`;
    const hour = Math.floor(NOW / 3_600);
    const tally = { ok: 1, fail: 0, c: { ok: 0, fail: 0 }, divergence: { compared: 0, sum: 0 } };
    const body = { hour, part: 0, agents: { [operator]: tally } };
    const record = await signRecord({ type: "outcomes", ledger: "local", body, account: seller });
    const check = (now: number, of = operator) =>
      checkRecord(record, { ...{ now, operator: of, devMode: false, index: new LedgerIndex() }, ...NOBODY });
    const issues = (error: unknown) => (error as InvalidInputError).issues.map(({ field }) => field);
    const over = (hour + 1) * 3_600;
    await check(over);
    await check(over - CLOCK_TOLERANCE);
    expect(await check(over - CLOCK_TOLERANCE - 1).catch(issues)).to.deep.equal(["body.hour"]);
    const other = buyer.address.toLowerCase() as `0x${string}`;
    expect(await check(over, other).catch(issues)).to.deep.equal(["signer"]);
  });
});

describe("a budget of the rules", () => {
  const entryAt = (timestamp: number, usd: bigint): LedgerEntry => ({
    ...{ timestamp, taskId: "t", parentHash: "", currentHash: "" },
    payload: { type: "settlement", data_update: { action: "pay", usd } },
  });

  it("is not renewed by a clock that was set back, or by an entry that is older than the entry before it", () => {
    const book = ruleBookOf();
    const fits = (usd: bigint, now: number) => book.refusal({ action: "pay", usd }, now) === undefined;
    book.add(entryAt(10_000, 60n));
    expect([fits(41n, 0), fits(40n, 0)]).to.deep.equal([false, true]);
    // An entry with an older time counts as if it had the latest time. So it does not expire before the entry that came
    // before it.
    book.add(entryAt(5_000, 30n));
    expect([fits(11n, 13_599), fits(10n, 13_599)]).to.deep.equal([false, true]);
    expect(fits(100n, 13_600)).to.equal(true);
    // A payment that is older than the budget's time span also does not count again.
    book.add(entryAt(20_000, 60n));
    expect([fits(41n, 10_000), fits(40n, 10_000)]).to.deep.equal([false, true]);
  });
});
