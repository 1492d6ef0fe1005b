import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { HELD_INDEX_FILE } from "../../../services/settlement/engine/heldIndex.ts";
import { HELD_FILE, HeldProposals } from "../../../services/settlement/engine/heldProposals.ts";
import type { Proposal } from "../../../services/settlement/engine/proposal.ts";
import { faultyDisk } from "../support/faultyDisk.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("proposals that are held", () => {
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
  afterEach(() => held.close());

  const file = () => path.join(folder.path, HELD_FILE);
  const hold = async (n: number, taskId = "task-1") => {
    const proposal: Proposal = {
      ...{ taskId, parentHash: GENESIS_HASH, agentMetadata: {}, confidenceScore: 0.9 },
      dataUpdate: { n: BigInt(n) },
    };
    return await held.hold(proposal, { dataUpdate: {} }, { divergence: 1, timestamp: n });
  };

  it("are listed oldest first: all that wait, and the latest of a task", async () => {
    for (const n of [3, 1, 2]) await hold(n);
    await hold(9, "task-2");
    for (const again of [false, true]) {
      if (again) {
        await held.close();
        await open();
      }
      expect(held.ofTask("task-1", 2).map(({ timestamp }) => timestamp)).to.deep.equal([1, 2]);
      expect(held.ofTask("task-1", 3).map(({ timestamp }) => timestamp)).to.deep.equal([3, 1, 2]);
      expect(held.firstWaiting(3).map(({ timestamp }) => timestamp)).to.deep.equal([3, 1, 2]);
      expect(held.firstWaiting(4).map(({ timestamp }) => timestamp)).to.deep.equal([3, 1, 2, 9]);
    }
  });

  it("are in the shared store before they are in this machine's file, so that none is lost with the machine", async () => {
    const shared: string[] = [];
    let isAway = true;
    held.shareBy(async ({ line }) => {
      expect(readFileSync(file(), "latin1"), "not in the file yet").not.to.contain(line);
      if (isAway) throw new Error("away");
      shared.push(line);
    });
    expect(await hold(1).catch(({ message }) => message)).to.equal("away");
    expect([held.size, readFileSync(file(), "latin1")]).to.deep.equal([0, ""]);
    isAway = false;
    const { id } = await hold(1);
    expect(held.get(id)).to.include({ timestamp: 1 });
    expect(shared.join("")).to.equal(readFileSync(file(), "latin1"));
  });

  it("are held if the shared store has them, although this machine's disk fails", async () => {
    const shared: string[] = [];
    held.shareBy(async ({ id }) => {
      shared.push(id);
      rmSync(file());
    });
    const error = await hold(1).catch((cause) => cause);
    expect(error).to.include({ code: "outcome_unknown" });
    expect(error.message).to.contain("the shared store has it");
    expect(shared).to.have.length(1);
  });

  it("end this machine if the shared store has one that its disk has no room for, and say meanwhile that they are not certain", async () => {
    const shared = new Map<string, string>();
    held.shareBy(async ({ id, line }) => void shared.set(id, line));
    disk.faults.free = 100;
    const error = await hold(1).catch((cause) => cause);
    expect(error).to.include({ code: "outcome_unknown" });
    expect(error.message).to.contain("the shared store has it").and.to.contain("ENOSPC");
    expect(failures.map(String)).to.deep.equal([String(error.cause)]);
    // An agent that hears that nothing is held would propose its task again, on a newer head.
    expect(() => held.ofTask("task-1", 9))
      .to.throw(TallystickError, "A proposal of task task-1")
      .that.includes({ code: "outcome_unknown" });
    expect(held.ofTask("task-2", 9)).to.deep.equal([]);
    expect(await hold(1).catch((cause) => cause), "the same one again").to.equal(error);
    await held.close();
    await open();
    for (const line of shared.values()) await held.take(line);
    expect(held.ofTask("task-1", 9).map(({ id }) => id)).to.deep.equal([...shared.keys()]);
    expect(shared.size).to.equal(1);
  });

  it("are not certain while the shared store does not answer, and reach the file before it is closed", async () => {
    const store = Promise.withResolvers<void>();
    held.shareBy(() => store.promise);
    const [first, same] = [hold(1), hold(1)];
    expect(() => held.ofTask("task-1", 9))
      .to.throw()
      .that.includes({ code: "outcome_unknown" });
    const closed = held.close();
    await new Promise((resolve) => setImmediate(resolve));
    store.resolve();
    await closed;
    expect((await first).id).to.equal((await same).id);
    await open();
    expect(held.ofTask("task-1", 9).map(({ timestamp }) => timestamp)).to.deep.equal([1]);
  });

  it("are held once, with one line, if the disk refuses the index at first", async () => {
    const other = new DatabaseSync(path.join(folder.path, HELD_INDEX_FILE));
    other.exec("BEGIN IMMEDIATE");
    const refusal = { code: "index_unavailable" };
    for (const n of [1, 1, 2]) expect(await hold(n).catch((cause) => cause)).to.include(refusal);
    expect(() => held.ofTask("task-1", 9))
      .to.throw()
      .that.includes(refusal);
    other.exec("ROLLBACK");
    other.close();
    expect(held.ofTask("task-1", 9).map(({ timestamp }) => timestamp)).to.deep.equal([1]);
    await hold(1);
    await hold(2);
    expect(readFileSync(file(), "latin1").split("\n")).to.have.length(3);
    expect(held.size).to.equal(2);
  });

  it("are read again from the file when their index is of another file", async () => {
    await hold(1);
    const { id } = await hold(2);
    await held.close();
    const [first = "", second = ""] = readFileSync(file(), "latin1").split(/(?<=\n)/);
    // The lines of this file have the same positions, but the last line is another one.
    writeFileSync(file(), first + first);
    await open();
    expect([held.size, held.get(id)]).to.deep.equal([1, undefined]);
    await held.close();
    writeFileSync(file(), first + second);
    await open();
    expect((await held.content(id)).payload).to.deep.include({ data_update: { n: 2n } });
  });

  it("keep every whole line when the last line is torn and the index is lost, and the next one follows them", async () => {
    const ids = [(await hold(1)).id, (await hold(2)).id];
    const whole = readFileSync(file(), "latin1");
    for (const n of [3, 4]) {
      await held.close();
      rmSync(path.join(folder.path, HELD_INDEX_FILE));
      writeFileSync(file(), `${n === 3 ? whole : readFileSync(file(), "latin1")}{"torn": `);
      await open();
      expect(held.cutBytes).to.equal(9);
      ids.push((await hold(n)).id);
    }
    expect(readFileSync(file(), "latin1"))
      .to.match(/^(\{"divergence.*\n){4}$/)
      .and.to.contain(whole);
    for (const id of ids) await held.content(id);
  });

  it("are given only with the content that was held, whatever was written into the file since", async () => {
    const { id } = await hold(7);
    writeFileSync(file(), readFileSync(file(), "latin1").replace('"n": 7', '"n": 8'));
    expect(await held.content(id).catch(({ code }) => code)).to.equal("held_corrupt");
    expect(await held.content("ab".repeat(32)).catch(({ code }) => code)).to.equal("unknown_held");
  });

  it("stop the start and name their line if a field is missing or of another type", async () => {
    await hold(1);
    await held.close();
    const good = readFileSync(file(), "latin1");
    for (const [from, to] of [
      [/"id": "/, '"id": 1, "x": "'],
      [/"task_id": "/, '"task": "'],
      [/"timestamp": /, '"time": '],
      [/"divergence": /, '"far": '],
    ] as const) {
      writeFileSync(file(), good + good.replace(from, to));
      const error = await HeldProposals.open(folder.path, () => {}).catch((it) => it);
      expect(error, to).to.include({ code: "held_corrupt" });
      expect(error.message, to).to.contain("line 2");
    }
    for (const line of ["[]", "null", "7", '"x"', "true", "{"]) {
      writeFileSync(file(), `${good}${line}\n`);
      const error = await HeldProposals.open(folder.path, () => {}).catch((it) => it);
      expect(error, line).to.include({ code: "held_corrupt" });
      const reason =
        line === "{" ? /^held\.jsonl line 2: (?!it is no)./ : /^held\.jsonl line 2: it is no object$/;
      expect(error.message, line).to.match(reason);
    }
    writeFileSync(file(), good);
    await open();
  });
});
