import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { NextAnchor } from "../../../services/settlement/anchoring/anchorContract.ts";
import { Anchorer, type AnchorerParameters } from "../../../services/settlement/anchoring/anchorer.ts";
import type { LedgerOnChain } from "../../../services/settlement/anchoring/readLedgerOnChain.ts";

const TX = `0x${"fe".repeat(32)}` as const;
const NEXT = `0x${"bb".repeat(20)}` as const;

describe("the rounds of an anchorer", () => {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
  };
  let tree: MerkleTree;
  /** The steps of the anchorer, in their order. */
  let steps: string[];
  let head: { size: number; seq: number } | undefined;
  let announced: { next: typeof NEXT; readyAt: bigint; halted: boolean } | null;
  let readFails: Error | undefined;
  let opens: boolean;
  let anchors: NextAnchor[];
  let now: number;
  let logged: { sentence: string; [field: string]: unknown }[];
  let timers: { run: () => void; ms: number }[];
  let intervals: { run: () => void; ms: number; isUnref: boolean }[];
  beforeEach(() => {
    [tree, steps, head, announced] = [new MerkleTree(), [], { size: 0, seq: 0 }, null];
    [readFails, opens, anchors, now, logged, timers, intervals] = [undefined, true, [], 0, [], [], []];
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      const timer = { run, ms };
      timers.push(timer);
      return timer;
    }) as never;
    globalThis.clearTimeout = ((timer: never) => {
      timers = timers.filter((one) => one !== timer);
    }) as never;
    globalThis.setInterval = ((run: () => void, ms: number) => {
      const interval = { run, ms, isUnref: false };
      intervals.push(interval);
      return Object.assign(interval, {
        unref: () => {
          interval.isUnref = true;
          return interval;
        },
      });
    }) as never;
    globalThis.clearInterval = ((interval: never) => {
      intervals = intervals.filter((one) => one !== interval);
    }) as never;
  });
  afterEach(() => {
    Object.assign(globalThis, real);
  });

  const grow = (to: number) => {
    while (tree.size < to) tree.append(leafHash(Uint8Array.of(tree.size)));
  };
  const rootAt = (size: number) => toHex(tree.root(size));
  const onChain = (): LedgerOnChain => ({
    block: { number: 1n, time: 1n },
    ledger: head && {
      writer: `0x${"aa".repeat(20)}`,
      head: { size: BigInt(head.size), seq: BigInt(head.seq), root: rootAt(head.size), time: 1n },
      ...{ isEquivocated: false, announced, formerSize: null },
    },
    confirmed: undefined,
  });
  const create = (more: Partial<AnchorerParameters> = {}) =>
    new Anchorer({
      contract: {
        read: async () => {
          steps.push("read");
          if (readFails) throw readFails;
          return onChain();
        },
        open: async () => {
          steps.push("open");
          if (opens) head = { size: 0, seq: 0 };
        },
        anchor: async (next) => {
          steps.push("anchor");
          anchors.push(next);
          head = { size: Number(next.size), seq: Number(next.seq) };
          return TX;
        },
      },
      watch: { seen: () => void steps.push("seen") },
      history: { cover: async (size) => void steps.push(`cover ${size}`) },
      ...{ tree, intervalMs: 1_000, maxEntries: 5, elapsedMs: () => now },
      log: (sentence, fields) => logged.push({ sentence, ...fields }),
      ...more,
    });
  const turn = async () => {
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
  };
  const next = async () => {
    const [timer] = timers;
    timer?.run();
    await turn();
    return timer?.ms;
  };
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail("it succeeded"),
      (error) => error,
    );

  it("read, compare, cover and anchor in this order, and then compare the new anchor", async () => {
    grow(3);
    const seen: unknown[] = [];
    const anchorer = create({
      onAnswer: () => void steps.push("answer"),
      onCompared: async () => void steps.push("compared"),
      onAnchored: async (anchor) => {
        steps.push("anchored");
        seen.push(anchor);
      },
    });
    expect(await anchorer.anchorOnce()).to.deep.equal({
      ...{ kind: "anchored", oldSize: 0, newSize: 3, root: rootAt(3), transaction: TX },
    });
    expect(steps).to.deep.equal([
      ...["read", "answer", "seen", "compared", "cover 3", "anchor", "anchored"],
      ...["read", "answer", "seen", "compared"],
    ]);
    expect(anchors).to.deep.equal([{ seq: 1n, size: 3n, root: rootAt(3), proof: [] }]);
    expect(seen).to.deep.equal([{ size: 3, root: rootAt(3), transaction: TX }]);
    grow(7);
    await anchorer.anchorOnce();
    expect(anchors[1]).to.deep.equal({
      ...{ seq: 2n, size: 7n, root: rootAt(7), proof: tree.consistencyProof(3, 7).map(toHex) },
    });
    expect(anchorer.state).to.include({ size: 7, seq: 2, root: rootAt(7), error: null, failures: 0 });
  });

  it("have anchored even if the comparison after an anchor fails, and know the anchor before it", async () => {
    grow(3);
    const anchorer = create({
      onAnchored: async () => {
        readFails = new Error("away");
      },
    });
    expect(await anchorer.anchorOnce()).to.include({ kind: "anchored", newSize: 3 });
    expect(anchorer.state).to.include({ size: 3, seq: 1, root: rootAt(3) });
  });

  it("open a ledger that is not open, and stop if the chain does not show it then", async () => {
    head = undefined;
    grow(2);
    const anchorer = create();
    expect(anchorer.state).to.include({ size: 0, seq: 0, root: null });
    expect(await anchorer.anchorOnce()).to.include({ kind: "anchored", newSize: 2 });
    expect(steps.slice(0, 5)).to.deep.equal(["read", "seen", "open", "read", "seen"]);
    [head, opens] = [undefined, false];
    const error = await errorOf(create().anchorOnce());
    expect(error).to.include({
      ...{ code: "not_open", message: "The ledger was opened, but the chain does not show it." },
    });
    expect(anchors).to.have.length(1);
  });

  it("anchor at most a number of entries, a hundred thousand by default, also of those that witnesses have cosigned", async () => {
    grow(7);
    expect(await create({ maxAnchored: 3 }).anchorOnce()).to.include({ oldSize: 0, newSize: 3 });
    const asked: number[][] = [];
    const sizeToAnchor = async (...of: number[]) => {
      asked.push(of);
      return 5;
    };
    expect(await create({ maxAnchored: 3, sizeToAnchor }).anchorOnce()).to.include({
      oldSize: 3,
      newSize: 5,
    });
    expect(asked).to.deep.equal([[3, 7]]);
    expect(await create().anchorOnce()).to.include({ newSize: 7 });
    const long = {
      size: 100_009,
      root: (size: number) => Uint8Array.of(size === 100_007 ? 1 : 2),
      consistencyProof: (from: number, to: number) => [Uint8Array.of(from, to === 100_007 ? 3 : 4)],
    };
    expect(await create({ tree: long as never }).anchorOnce()).to.include({ newSize: 100_007 });
  });

  it("sign and send nothing while the guardian has announced another writer, but say that all is anchored", async () => {
    announced = { next: NEXT, readyAt: 0n, halted: true };
    expect(await create().anchorOnce()).to.deep.equal({ kind: "upToDate", size: 0 });
    grow(1);
    expect(await errorOf(create().anchorOnce())).to.include({ code: "guardian_announced" });
    expect(steps).not.to.include("cover 1");
    announced = { ...announced, halted: false };
    expect(await create().anchorOnce()).to.include({ newSize: 1 });
  });

  it("send nothing if the history refuses", async () => {
    grow(1);
    const refusal = new TallystickError({ code: "last_signed_ahead", message: "No." });
    expect(
      await errorOf(create({ history: { cover: () => Promise.reject(refusal) } }).anchorOnce()),
    ).to.equal(refusal);
    expect(anchors).to.deep.equal([]);
  });

  it("tell the reason of a silent chain, and ask the comparison only about answers", async () => {
    const reasons: string[] = [];
    readFails = Object.assign(new Error("HTTP request failed.\n\nURL: http://key@rpc"), {
      shortMessage: "HTTP request\nfailed.",
    });
    const anchorer = create({ onSilence: (reason) => reasons.push(reason) });
    expect(await errorOf(anchorer.look())).to.equal(readFails);
    readFails = new Error("no short words");
    await errorOf(anchorer.look());
    readFails = "a text" as never;
    await errorOf(anchorer.look());
    readFails = Object.assign(new Error("long"), { shortMessage: 7 });
    await errorOf(anchorer.look());
    expect(reasons).to.deep.equal(["HTTP request failed.", "no short words", "a text", "long"]);
    expect(steps).not.to.include("seen");
  });

  it("know what the chain has even if it contradicts the ledger", async () => {
    grow(4);
    head = { size: 4, seq: 9 };
    const wrong = new TallystickError({ code: "root_contradicts", message: "No." });
    const anchorer = create({
      watch: {
        seen: () => {
          throw wrong;
        },
      },
      onCompared: () => expect.fail("it is not compared"),
    });
    expect(await errorOf(anchorer.look())).to.equal(wrong);
    expect(anchorer.state).to.include({ size: 4, seq: 9, root: rootAt(4) });
  });

  it("come after each interval, and at once while many entries wait or when they are woken", async () => {
    const anchorer = create({ maxAnchored: 4 });
    grow(6);
    anchorer.start();
    anchorer.start();
    await turn();
    // The other two are too few for a round of their own.
    expect(anchors.map(({ size }) => Number(size))).to.deep.equal([4]);
    expect(timers.map(({ ms }) => ms)).to.deep.equal([1_000]);
    grow(8);
    anchorer.grown();
    await turn();
    expect(anchors, "four entries are too few").to.have.length(1);
    grow(9);
    anchorer.grown();
    await turn();
    expect(anchors.map(({ size }) => Number(size))).to.deep.equal([4, 8]);
    expect(await next()).to.equal(1_000);
    expect(anchors.map(({ size }) => Number(size))).to.deep.equal([4, 8, 9]);
    anchorer.wake();
    await turn();
    expect(steps.at(-1)).to.equal("seen");
    grow(19);
    anchorer.grown();
    await turn();
    expect(anchors.map(({ size }) => Number(size))).to.deep.equal([4, 8, 9, 13, 17]);
    const reads = steps.length;
    await anchorer.stop();
    expect([timers, intervals]).to.deep.equal([[], []]);
    await turn();
    expect(steps).to.have.length(reads);
    expect(logged.filter(({ sentence }) => sentence === "Anchored the ledger.")[0]).to.deep.include({
      ...{ oldSize: 0, newSize: 4, root: rootAt(4), transaction: TX, kind: undefined },
    });
  });

  it("come after longer and longer pauses while they fail, and then as before", async () => {
    const anchorer = create({ backoffMs: { first: 10, longest: 70 } });
    readFails = new TallystickError({ code: "wrong_chain", message: "It is chain 1.", hint: "Set it." });
    anchorer.start();
    await turn();
    const waits: (number | undefined)[] = [];
    for (let n = 0; n < 5; n++) waits.push(await next());
    expect(waits).to.deep.equal([10, 20, 40, 70, 70]);
    expect(anchorer.state).to.include({ error: "It is chain 1.", failures: 6 });
    expect(logged[1]).to.deep.equal({
      ...{
        sentence: "Anchoring failed; trying again.",
        reason: "It is chain 1.",
        hint: "Set it.",
        waitMs: 20,
      },
    });
    // New entries do not start a round early.
    grow(9);
    const before = steps.length;
    anchorer.grown();
    await turn();
    expect(steps).to.have.length(before);
    readFails = undefined;
    await next();
    expect(anchorer.state).to.include({ error: null, failures: 6, size: 9 });
    expect(timers[0]?.ms).to.equal(1_000);
    readFails = new Error("away");
    await next();
    expect(timers[0]?.ms).to.equal(10);
    expect(logged.at(-1)).to.deep.equal({
      ...{ sentence: "Anchoring failed; trying again.", reason: "away", waitMs: 10 },
    });
    readFails = undefined;
    await next();
    expect(logged.at(-1)).to.deep.equal({ sentence: "Anchoring works again.", size: 9 });
    await next();
    expect(logged.filter(({ sentence }) => sentence === "Anchoring works again.")).to.have.length(1);
    await anchorer.stop();
  });

  it("wait from one second to a minute after failures by default", async () => {
    const anchorer = create();
    readFails = new Error("away");
    anchorer.start();
    await turn();
    const waits: (number | undefined)[] = [];
    for (let n = 0; n < 30; n++) waits.push(await next());
    expect(waits.slice(0, 8)).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(waits.at(-1)).to.equal(60_000);
    await anchorer.stop();
  });

  it("come after at most five seconds while writes wait for the chain", async () => {
    let isWaitedFor = true;
    const anchorer = create({ intervalMs: 60_000, isWaitedFor: () => isWaitedFor });
    anchorer.start();
    await turn();
    expect(await next()).to.equal(5_000);
    isWaitedFor = false;
    await next();
    expect(timers[0]?.ms).to.equal(60_000);
    await anchorer.stop();
    const quick = create({ intervalMs: 100, isWaitedFor: () => true });
    quick.start();
    await turn();
    expect(timers[0]?.ms).to.equal(100);
    await quick.stop();
  });

  it("are stale after more than twice the interval, which is logged once, and once when it is over", async () => {
    grow(1);
    const anchorer = create();
    await anchorer.anchorOnce();
    now = 2_000;
    expect(anchorer.state).to.include({ age: 2, stale: false });
    readFails = new Error("away");
    anchorer.start();
    expect(intervals.map(({ ms, isUnref }) => [ms, isUnref])).to.deep.equal([[1_000, true]]);
    await turn();
    logged = [];
    intervals[0]?.run();
    expect(logged).to.deep.equal([]);
    now = 2_001;
    expect(anchorer.state).to.include({ age: 2.001, stale: true });
    grow(3);
    intervals[0]?.run();
    intervals[0]?.run();
    expect(logged).to.deep.equal([
      {
        ...{
          sentence: "The anchor is older than twice its interval.",
          ageSeconds: 2,
          anchored: 1,
          onDisk: 3,
        },
        reason: "The chain gave no answer, or refused the transaction.",
      },
    ]);
    readFails = undefined;
    logged = [];
    await next();
    expect(logged.map(({ sentence }) => sentence)).to.deep.equal([
      ...["Anchored the ledger.", "The anchor is up to date again."],
    ]);
    expect(logged[1]).to.deep.equal({
      ...{ sentence: "The anchor is up to date again.", ageSeconds: 0, anchored: 3, onDisk: 3 },
    });
    await anchorer.stop();
  });

  it("measure the age from the beginning of a round", async () => {
    const anchorer = create({
      onCompared: async () => {
        now += 500;
      },
    });
    await anchorer.anchorOnce();
    expect(anchorer.state.age).to.equal(0.5);
    grow(1);
    await anchorer.anchorOnce();
    expect(anchorer.state.age).to.equal(1);
  });

  it("show strangers only our own words", async () => {
    for (const [error, shown] of [
      [new Error("no peers at 10.0.0.7"), "The chain gave no answer, or refused the transaction."],
      [
        new TallystickError({ code: "signer_failed", message: "no token in 10.0.0.7" }),
        "The signing command gave no signature.",
      ],
      [
        Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" }),
        "The disk failed: EIO: i/o error, read.",
      ],
      [Object.assign(new Error("quota"), { code: "EDQUOT" }), "The disk failed: quota."],
      [Object.assign(new Error("full"), { code: "ENOSPC" }), "The disk failed: full."],
      [Object.assign(new Error("fixed"), { code: "EROFS" }), "The disk failed: fixed."],
      [
        Object.assign(new Error("EACCES: denied, open '/of/operator'"), {
          path: "/of/operator",
          code: "EACCES",
        }),
        "The disk failed: EACCES: denied.",
      ],
      [
        Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
        "The chain gave no answer, or refused the transaction.",
      ],
      [null, "The chain gave no answer, or refused the transaction."],
    ] as const) {
      readFails = undefined;
      const anchorer = create({ contract: { read: () => Promise.reject(error) } as never });
      anchorer.start();
      await turn();
      expect(anchorer.state.error, String(error)).to.equal(shown);
      await anchorer.stop();
    }
  });
});
