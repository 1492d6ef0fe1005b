import { expect } from "chai";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { GENESIS_HASH, type LedgerEntry } from "tallystick-protocol/ledger/entry";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { LedgerIndex, offerKey } from "../../../services/settlement/engine/ledgerIndex.ts";

type Body = { [key: string]: PyJson };

const ADA = `0x${"a1".repeat(20)}`;
const BOB = `0x${"b2".repeat(20)}`;
const hashOf = (n: number) => n.toString(16).padStart(64, "0");

describe("what the index says of the entries that it has", () => {
  let index: LedgerIndex;
  let size: number;
  const open = (ledger?: LedgerName) => {
    index = new LedgerIndex(undefined, ledger && { ledger });
    size = 0;
  };
  beforeEach(() => open());
  afterEach(() => index.close());

  /** Adds an entry, and returns its position. */
  const add = (
    payload: LedgerEntry["payload"],
    taskId = "task",
    timestamp: number | bigint = size,
  ): number => {
    index.add({ timestamp, taskId, parentHash: GENESIS_HASH, payload, currentHash: hashOf(size) }, size);
    return size++;
  };
  const settle = (dataUpdate: PyJson, more: Body = {}, timestamp?: number | bigint) =>
    add({ type: "settlement", data_update: dataUpdate, ...more }, "task", timestamp);
  const record = (type: string, body: Body, signer: PyJson = ADA, taskId = "task") =>
    add({ type, body: { type, ledger: "local", ...body }, signer, signature: "0x" }, taskId);
  /** A record of the form that names neither its type nor its ledger. */
  const older = (type: string, body: Body, signer: PyJson = ADA) =>
    add({ type, body, signer, signature: "0x" });

  it("gives the newest entries of a task, and those before one of them", () => {
    const of = { a: [] as number[], b: [] as number[] };
    for (let n = 0; n < 6; n++) of[n % 2 ? "b" : "a"].push(add({}, n % 2 ? "b" : "a"));
    expect(of.a).to.deep.equal([0, 2, 4]);
    expect(index.indexesOfTask("a", 9)).to.deep.equal([0, 2, 4]);
    expect(index.indexesOfTask("a", 3)).to.deep.equal([0, 2, 4]);
    expect(index.indexesOfTask("a", 2)).to.deep.equal([2, 4]);
    expect(index.indexesOfTask("a", 0)).to.deep.equal([]);
    expect(index.indexesOfTask("a", 9, 4)).to.deep.equal([0, 2]);
    expect(index.indexesOfTask("a", 1, 4)).to.deep.equal([2]);
    expect(index.indexesOfTask("a", 9, 0)).to.deep.equal([]);
    expect(index.indexesOfTask("b", 9)).to.deep.equal([1, 3, 5]);
    expect(index.indexesOfTask("c", 9)).to.deep.equal([]);
    expect(index.size).to.equal(6);
  });

  it("finds an entry by its hash, and a task by its id, without mixing the two", () => {
    add({}, hashOf(7));
    expect(index.indexOfHash(hashOf(0))).to.equal(0);
    expect(index.indexOfHash(hashOf(7))).to.equal(undefined);
    expect(index.indexesOfTask(hashOf(0), 9)).to.deep.equal([]);
    expect(index.indexOfRecord(hashOf(7))).to.equal(undefined);
  });

  it("finds the first of two records with one key", () => {
    const body = { agent_id: ADA, hire_id: "h" };
    const first = older("receipt", { ...body, amount_usdc_atomic: "1" });
    older("receipt", { ...body, amount_usdc_atomic: "2" });
    expect(index.indexOfRecord(`receipt ${ADA} h`)).to.equal(first);
    // A record without a key of its own is known by its digest, which is the id of its task.
    const claim = record("claim", {}, BOB, "the digest");
    expect(index.indexOfRecord(`claim ${BOB} the digest`)).to.equal(claim);
  });

  it("reads no record and no settlement from a payload that has none", () => {
    for (const payload of [
      { type: "listing", body: null },
      { type: "listing", body: ["issued_at"] },
      { type: "settlement", data_update: null, agent: ADA },
      { type: "settlement", data_update: [1n], agent: ADA },
      { type: "settlement", data_update: "text", agent: ADA },
    ])
      add(payload as never);
    expect(index.size).to.equal(5);
    expect([index.outcomesFrom, index.reviews, index.actionsWithin(100)]).to.deep.equal([undefined, 0, []]);
    expect(index.contextSlice(["0"])).to.deep.equal({});
  });

  it("has the latest value of each key, also of one that begins with two underscores, and the rules' value first", () => {
    settle({ a: 1n, b: { deep: [1.5, null] }, core_logic: "be kind" });
    settle({ a: 2n, ["__proto__"]: "x", "\ud800": "lone" });
    expect(index.contextSlice([])).to.deep.equal({ core_logic: "be kind" });
    const slice = index.contextSlice(["a", "b", "a", "\ud800", "missing", "toString"]);
    expect(slice).to.deep.equal({ a: 2n, b: { deep: [1.5, null] }, "\ud800": "lone", core_logic: "be kind" });
    expect(Object.entries(index.contextSlice(["__proto__"]))).to.deep.equal([
      ["__proto__", "x"],
      ["core_logic", "be kind"],
    ]);
    expect(index.contextSlice(["a", "b"], { core_logic: "be strict", a: 9n, other: 1n })).to.deep.equal({
      a: 9n,
      b: { deep: [1.5, null] },
      core_logic: "be strict",
    });
  });

  it("lists the entries with an action that are younger than a time before the last of them, in their order", () => {
    expect(index.actionsWithin(10)).to.deep.equal([]);
    settle({ action: "pay" }, {}, 100);
    settle({ action: "pay" }, {}, 110n);
    settle({ other: "pay" }, {}, 500);
    settle({ action: 7n }, {}, 500);
    // The clock was set back.
    settle({ action: "pay" }, {}, 105.5);
    expect(index.actionsWithin(4.5)).to.deep.equal([1]);
    expect(index.actionsWithin(5)).to.deep.equal([1, 4]);
    expect(index.actionsWithin(10)).to.deep.equal([1, 4]);
    expect(index.actionsWithin(11)).to.deep.equal([0, 1, 4]);
  });

  describe("of listings", () => {
    const listing = (changes: Body = {}) => older("listing", { agent_id: ADA, capability: "c", ...changes });

    it("has the highest time of an offer", () => {
      expect(index.newestListing(`${ADA} c direct`)).to.equal(undefined);
      listing({ issued_at: 50n });
      expect(index.newestListing(`${ADA} c direct`)).to.equal(50);
      listing({ issued_at: 40n });
      expect(index.newestListing(`${ADA} c direct`)).to.equal(50);
      listing({ issued_at: 60n, payment_mode: "direct" });
      expect(index.newestListing(`${ADA} c direct`)).to.equal(60);
      listing({ issued_at: 70n, payment_mode: "custom_escrow:x" });
      expect(index.newestListing(`${ADA} c custom_escrow:x`)).to.equal(70);
      expect(index.newestListing(`${ADA} c direct`)).to.equal(60);
    });

    it("counts a missing time, a negative one and one of another type as 0, and a huge one as the largest exact number", () => {
      listing();
      expect(index.newestListing(`${ADA} c direct`)).to.equal(0);
      listing({ issued_at: -5n, capability: "d" });
      listing({ issued_at: "9", capability: "e" });
      listing({ issued_at: 9.5, capability: "f" });
      for (const one of ["d", "e", "f"]) expect(index.newestListing(`${ADA} ${one} direct`), one).to.equal(0);
      listing({ issued_at: 10n ** 30n });
      expect(index.newestListing(`${ADA} c direct`)).to.equal(Number.MAX_SAFE_INTEGER);
    });

    it("knows an offer by its agent, capability and payment mode", () => {
      expect(offerKey({ agent_id: "a", capability: "c", payment_mode: "m" })).to.equal("a c m");
      expect(offerKey({ agent_id: "a", capability: "c" })).to.equal("a c direct");
      expect(offerKey({ agent_id: { toString: 1 }, capability: ["c"], payment_mode: null })).to.equal(
        "  direct",
      );
    });
  });

  describe("of reviews and releases", () => {
    const review = (proposal: PyJson, decision: PyJson) => record("review", { proposal, decision });

    it("has the first review of a proposal, and counts each once", () => {
      const at = review("p", "reject");
      review("p", "release");
      review("q", "release");
      expect(index.reviewOf("p")).to.deep.equal({ decision: "reject", hash: hashOf(at), index: at });
      expect(index.reviewOf("r")).to.equal(undefined);
      expect(index.reviews).to.equal(2);
    });

    it("has a release as unfinished until an entry names its review", () => {
      review("p", "release");
      review("q", "reject");
      review("r", "release");
      expect([...index.unfinishedReleases]).to.deep.equal([
        [hashOf(0), "p"],
        [hashOf(2), "r"],
      ]);
      expect(index.releaseOf(hashOf(0))).to.equal(undefined);
      const at = settle({}, { review: hashOf(0) });
      settle({}, { review: 7n });
      expect([...index.unfinishedReleases]).to.deep.equal([[hashOf(2), "r"]]);
      expect([index.releaseOf(hashOf(0)), index.releaseOf(hashOf(2))]).to.deep.equal([at, undefined]);
    });

    it("has texts where a stranger's record has other values", () => {
      review({ toString: 1n }, ["release"]);
      expect(index.reviewOf("")).to.include({ decision: "" });
    });
  });

  describe("of outcomes", () => {
    it("begin with the first entry of a named agent, or the first rejection by a review", () => {
      settle({}, { agent: 7n });
      record("review", { proposal: "p", decision: "release" });
      expect(index.outcomesFrom).to.equal(undefined);
      const first = settle({}, { agent: ADA });
      record("review", { proposal: "q", decision: "reject" });
      settle({}, { agent: ADA });
      expect(index.outcomesFrom).to.equal(first);
      open();
      expect(record("review", { proposal: "q", decision: "reject" })).to.equal(0);
      settle({}, { agent: ADA });
      expect(index.outcomesFrom).to.equal(0);
    });

    it("are told up to the highest hour that a record has", () => {
      const tell = (hour: PyJson) => {
        record("outcomes", { hour, part: 0n });
        return index.toldHour;
      };
      expect(index.toldHour).to.equal(undefined);
      for (const wrong of ["", "x", null, [5n], { valueOf: 1n }, -1n, 1.5, 2n ** 53n])
        expect(tell(wrong), String(wrong)).to.equal(undefined);
      expect(tell(0n)).to.equal(0);
      expect(tell(500n)).to.equal(500);
      expect(tell(499n)).to.equal(500);
      expect(tell(501n)).to.equal(501);
      record("telemetry", { hour: 900n, receipt: "r" });
      expect(index.toldHour).to.equal(501);
    });
  });

  describe("of consensus", () => {
    it("has stakes and votes with their positions and times", () => {
      record("stake", { task_id: "t", proposal: "p" }, ADA);
      record("verify", { task_id: "t", proposal: "p" }, BOB);
      record("contest", { task_id: "t", proposal: "p" }, `0x${"c3".repeat(20)}`);
      const [only, ...others] = index.consensus.proposals("t", 9);
      expect(others).to.deep.equal([]);
      expect(only).to.deep.equal({
        ...{ proposal: "p", staker: ADA, index: 0, verifies: [BOB], contests: [`0x${"c3".repeat(20)}`] },
        ...{ verifyCount: 1, contestCount: 1 },
      });
      // Thirty days later the stake is closed.
      const late = { task_id: "t", proposal: "p" };
      const body = { type: "verify", ledger: "local", ...late };
      add({ type: "verify", body, signer: `0x${"d4".repeat(20)}` }, "task", 30 * 86_400 + 1);
      expect(index.consensus.proposals("t", 9)[0]).to.include({ verifyCount: 1 });
      record("stake", { task_id: { toString: 1n }, proposal: [1n] }, { toString: 1n });
      expect(index.consensus.proposals("", 9)[0]).to.include({ proposal: "", staker: "" });
    });
  });

  describe("of a record's form", () => {
    it("counts the older form until the first record of the new form, and none after it", () => {
      const task = { task_id: "t" };
      older("stake", { ...task, proposal: "p" });
      record("stake", { ...task, proposal: "q" });
      older("stake", { ...task, proposal: "r" });
      record("stake", { ...task, proposal: "s" });
      expect(index.consensus.proposals("t", 9).map(({ proposal }) => proposal)).to.deep.equal([
        "p",
        "q",
        "s",
      ]);
      expect(index.indexOfRecord("stake r t")).to.equal(undefined);
      // These two types have one form only.
      expect(index.indexOfRecord(`receipt ${ADA} h`)).to.equal(undefined);
      const at = older("receipt", { agent_id: ADA, hire_id: "h" });
      expect(index.indexOfRecord(`receipt ${ADA} h`)).to.equal(at);
    });

    it("ignores a record of another type or ledger, or with only one of the two names, which also ends no older form", () => {
      const body = { proposal: "p", decision: "reject" };
      for (const names of [
        { type: "stake", ledger: "local" },
        { type: "review", ledger: `0x${"11".repeat(32)}` },
        { type: "review" },
        { ledger: "local" },
      ])
        older("review", { ...names, ...body } as Body);
      expect([index.reviews, index.indexOfRecord("review p")]).to.deep.equal([0, undefined]);
      const at = older("review", body);
      expect(index.reviewOf("p")).to.include({ index: at });
    });

    it("takes the name of its own ledger", () => {
      const ledger = `0x${"11".repeat(32)}` as const;
      open(ledger);
      expect(index.ledgerName).to.equal(ledger);
      record("review", { proposal: "p", decision: "reject" });
      record("review", { proposal: "q", decision: "reject", ledger });
      expect([index.reviewOf("p"), index.reviewOf("q")?.index]).to.deep.equal([undefined, 1]);
      open();
      expect(index.ledgerName).to.equal("local");
    });

    it("takes a record whose type is no text, without a key that others could need", () => {
      expect(older(7n as never, { proposal: "p" })).to.equal(0);
      expect(index.size).to.equal(1);
    });
  });
});
