import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { HELD_INDEX_FILE } from "../../../services/settlement/engine/heldIndex.ts";
import { HELD_FILE, HeldProposals } from "../../../services/settlement/engine/heldProposals.ts";
import { faultyDisk } from "../support/faultyDisk.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const HINT = "The file of held proposals was changed by hand, or damaged. Restore it from a copy.";

describe("the file and the index of held proposals", () => {
  const folder = temporaryFolder();
  let held: HeldProposals;
  let disk: ReturnType<typeof faultyDisk>;
  let failures: Error[];
  const open = async () => {
    disk = faultyDisk();
    failures = [];
    held = await HeldProposals.open(folder.path, (error) => failures.push(error), disk.openFile);
  };
  beforeEach(open);
  afterEach(() => held.close().catch(() => {}));
  const again = async () => {
    await held.close();
    await open();
  };

  const file = () => path.join(folder.path, HELD_FILE);
  const at = (suffix = "") => path.join(folder.path, `${HELD_INDEX_FILE}${suffix}`);
  const hold = async (n: number, taskId = "task-1") => {
    const of = { taskId, parentHash: GENESIS_HASH, agentMetadata: {}, confidenceScore: 0.9 };
    const proposal = { ...of, dataUpdate: { n: BigInt(n) } };
    return held.hold(proposal, { dataUpdate: { s: 1n } }, { divergence: 0.5, timestamp: n });
  };
  /** What another process reads: the number of held proposals, and of those that wait. */
  const onDisk = () => {
    const database = new DatabaseSync(at(), { readOnly: true });
    try {
      const sql = "SELECT count(*) AS held, coalesce(sum(waits), 0) AS waiting FROM held";
      const { held: all, waiting } = database.prepare(sql).get() as { held: number; waiting: number };
      return [all, waiting];
    } finally {
      database.close();
    }
  };
  const review = (n: number) => ({ index: n, hash: `hash ${n}` });
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail("it succeeded"),
      (error) => error,
    );

  it("have on disk what is held and what is reviewed, also what was read from the file at the start", async () => {
    const { id } = await hold(1);
    await hold(2);
    expect(onDisk()).to.deep.equal([2, 2]);
    held.reviewed(id, review(5));
    expect([onDisk(), held.waiting]).to.deep.equal([[2, 1], 1]);
    await held.close();
    const database = new DatabaseSync(at());
    database.exec("DELETE FROM held WHERE start > 0");
    database.close();
    await open();
    expect([onDisk(), held.size, held.waiting]).to.deep.equal([[2, 1], 2, 1]);
  });

  it("are used again at the next start, without reading the reviews again", async () => {
    const { id } = await hold(1);
    await hold(2);
    held.reviewed(id, review(5));
    await again();
    expect([held.size, held.waiting]).to.deep.equal([2, 1]);
    const asked: string[] = [];
    await held.takeReviews({
      hashAt: async (index) => (index === 5 ? "hash 5" : undefined),
      reviewOf: (of) => {
        asked.push(of);
        return undefined;
      },
    });
    expect(asked).to.have.length(1).and.not.include(id);
    expect(held.waiting).to.equal(1);
  });

  it("forget the reviews that a restored ledger lacks, and store those that it has", async () => {
    const [one, two] = [(await hold(1)).id, (await hold(2)).id];
    held.reviewed(one, review(3));
    held.reviewed(two, review(5));
    for (const hash of ["another hash", undefined]) {
      await held.takeReviews({
        hashAt: async () => hash,
        reviewOf: (of) => (of === one ? review(3) : undefined),
      });
      expect([held.waiting, onDisk()]).to.deep.equal([1, [2, 1]]);
      held.reviewed(two, review(5));
    }
  });

  it("are closed with their last words on disk, also if the start fails", async () => {
    await hold(1);
    expect(existsSync(at("-wal"))).to.equal(true);
    await held.close();
    expect(existsSync(at("-wal"))).to.equal(false);
    writeFileSync(file(), `${readFileSync(file(), "latin1")}[]\n`);
    expect(await errorOf(HeldProposals.open(folder.path, () => {}))).to.include({ code: "held_corrupt" });
    expect(existsSync(at("-wal"))).to.equal(false);
  });

  it("refuse a proposal that the disk has no room for, and hold the next one", async () => {
    disk.faults.free = 10;
    const error = await errorOf(hold(1));
    expect(error).to.include({ code: "ledger_unavailable" });
    disk.faults.free = Number.POSITIVE_INFINITY;
    expect([failures, held.size]).to.deep.equal([[], 0]);
    expect((await hold(1)).timestamp).to.equal(1);
    expect(held.size).to.equal(1);
  });

  it("give what is held, and say what is wrong and what to do", async () => {
    const { id } = await hold(1);
    expect(await held.content(id)).to.deep.include({ parentHash: GENESIS_HASH, shadow: { s: 1n } });
    expect(await errorOf(held.content("ab"))).to.include({
      ...{ code: "unknown_held", message: "Nothing is held under ab." },
      hint: "GET /v1/reviews lists what waits for a review.",
    });
    await hold(2);
    const { id: third } = await hold(3);
    const start = readFileSync(file(), "latin1").split("\n").slice(0, 2).join("\n").length + 1;
    writeFileSync(file(), readFileSync(file(), "latin1").replace('"n": 3', '"n": 4'));
    expect(await errorOf(held.content(third))).to.include({
      ...{
        code: "held_corrupt",
        hint: HINT,
        message: `held.jsonl at byte ${start}: it is not what was held`,
      },
    });
    writeFileSync(file(), readFileSync(file(), "latin1").replace('"n": 4', '"n"; 4'));
    expect((await errorOf(held.content(third))).message).to.match(
      new RegExp(`^held.jsonl at byte ${start}: .`),
    );
  });

  it("say which line of another process is no held proposal", async () => {
    await hold(1);
    for (const [line, message] of [
      ["{}\n", "held.jsonl line 2: id, task_id, timestamp or divergence is missing"],
      ["[]\n", "held.jsonl line 2: it is no object"],
    ] as const)
      expect(await errorOf(held.take(line))).to.include({ code: "held_corrupt", message, hint: HINT });
    expect(held.size).to.equal(1);
  });

  it("say that nobody knows whether a proposal is held, and when to ask again", async () => {
    const store = Promise.withResolvers<void>();
    held.shareBy(() => store.promise);
    const holding = hold(1, "t");
    let error: unknown;
    try {
      held.ofTask("t", 1);
    } catch (cause) {
      error = cause;
    }
    expect(error).to.deep.include({
      code: "outcome_unknown",
      message: "A proposal of task t was sent to be held, and it is not certain yet whether it is held.",
      hint: "Ask again in some seconds. Do not propose the task again before you have an answer.",
      details: { headers: { "retry-after": "5" } },
    });
    disk.faults.free = 0;
    store.resolve();
    expect(await errorOf(holding)).to.include({
      ...{ code: "outcome_unknown" },
      message:
        "The proposal cannot be written here. It is held: the shared store has it. The ledger cannot be written: ENOSPC:" +
        " no space left on device, write.",
      hint: "Another machine continues the ledger. Ask GET /v1/status/{task_id} before you propose the task again.",
    });
  });
});
