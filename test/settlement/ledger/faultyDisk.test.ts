import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { TallystickError } from "tallystick-protocol/errors";
import { verifyLedgerFile } from "../../../scripts/commands/verifyLedger.ts";
import { AppendFile, type AppendTarget } from "../../../services/settlement/ledger/appendFile.ts";
import { type Appended, DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { type Faults, faultyDisk } from "../support/faultyDisk.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("a ledger on a disk that fails", () => {
  const folder = temporaryFolder();
  let ledger: DiskLedger;
  let faults: Faults;
  let failures: Error[];
  let undone: number;
  let disk: ReturnType<typeof faultyDisk>;
  beforeEach(async () => {
    disk = faultyDisk();
    faults = disk.faults;
    failures = [];
    undone = 0;
    ledger = await DiskLedger.open({
      folder: folder.path,
      openFile: disk.openFile,
      onFailure: (error) => failures.push(error),
      onUndone: () => undone++,
    });
  });
  afterEach(() => ledger.close());

  const file = () => path.join(folder.path, "ledger.jsonl");
  const append = (n: number): Appended => {
    return ledger.append({ timestamp: n, taskId: `task-${n}`, payload: { padding: "x".repeat(100) } });
  };
  const outcome = async ({ durable }: Appended): Promise<string> => {
    return durable.then(
      () => "settled",
      (error) => (error instanceof TallystickError ? error.code : String(error)),
    );
  };
  async function expectWhole(size: number): Promise<void> {
    expect(await verifyLedgerFile(file())).to.deep.include({
      size,
      head: ledger.head,
      root: ledger.tree.root(),
    });
    expect(ledger.size).to.equal(size);
    expect(ledger.nextParent).to.equal(ledger.head);
  }

  it("refuses with 503 the entries that do not fit, leaves nothing half-written, and continues when there is space", async () => {
    expect(await outcome(append(0))).to.equal("settled");
    const before = readFileSync(file());
    faults.free = 450;
    expect(await Promise.all([append(1), append(2), append(3)].map(outcome))).to.deep.equal(
      Array(3).fill("ledger_unavailable"),
    );
    expect(readFileSync(file()).equals(before)).to.equal(true);
    expect([undone, failures.length]).to.deep.equal([1, 0]);
    faults.free = Number.POSITIVE_INFINITY;
    expect(await outcome(append(4))).to.equal("settled");
    await expectWhole(2);
  });

  it("refuses everything that follows an entry that did not fit", async () => {
    faults.free = 100;
    const first = append(0);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const later = append(1);
    expect(await Promise.all([first, later].map(outcome))).to.deep.equal(Array(2).fill("ledger_unavailable"));
    faults.free = Number.POSITIVE_INFINITY;
    expect(await outcome(append(2))).to.equal("settled");
    await expectWhole(1);
  });

  it("refuses with 503 on a read-only file system, and continues when it is writable again", async () => {
    expect(await outcome(append(0))).to.equal("settled");
    faults.readOnly = true;
    expect(await outcome(append(1))).to.equal("ledger_unavailable");
    expect((await ledger.entry(0)).taskId).to.equal("task-0");
    faults.readOnly = false;
    expect(await outcome(append(2))).to.equal("settled");
    expect(failures).to.have.length(0);
    await expectWhole(2);
  });

  it("accepts nothing more after a failed fsync, because the content of the disk is unknown", async () => {
    expect(await outcome(append(0))).to.equal("settled");
    faults.syncFails = true;
    expect(await outcome(append(1))).to.equal("outcome_unknown");
    faults.syncFails = false;
    expect(await outcome(append(2))).to.equal("ledger_unavailable");
    expect(failures).to.have.length(1);
    expect(ledger.size).to.equal(1);
  });

  it("accepts nothing more if a half-written line cannot be cut off", async () => {
    faults.free = 100;
    const first = append(0);
    faults.syncFails = true;
    expect(await outcome(first)).to.equal("outcome_unknown");
    expect(failures).to.have.length(1);
  });

  it("accepts only as much as it can hold while the disk hangs, and continues when the disk answers", async () => {
    let answer = (): void => {};
    const hangs = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = await DiskLedger.open({
      folder: path.join(folder.path, "slow"),
      openFile: async (filePath) => {
        const file = await disk.openFile(filePath);
        return { ...file, datasync: () => hangs } as AppendTarget;
      },
    });
    const payload = { padding: "x".repeat(60_000) };
    const taken: Promise<void>[] = [];
    const take = () => taken.push(slow.append({ timestamp: 1, taskId: "t", payload }).durable);
    expect(() => {
      for (let i = 0; i < 1_000; i++) take();
    })
      .to.throw(TallystickError, "does not keep up")
      .with.property("code", "ledger_unavailable");
    expect(taken.length * 60_000).to.be.above(30e6);
    answer();
    await Promise.all(taken);
    take();
    await Promise.all(taken);
    expect([slow.size, slow.nextParent]).to.deep.equal([taken.length, slow.head]);
    await slow.close();
  });

  it("gives the position of every line, also of one that arrives while a refused write is undone", async () => {
    const filePath = path.join(folder.path, "lines");
    const file = await AppendFile.open({ filePath, onFailure: () => {}, openFile: disk.openFile });
    expect(await file.append("first\n")).to.equal(0);
    disk.faults.free = 3;
    // These lines are appended before the third line is reported as refused.
    const after = file.append("second\n").catch(() => {
      disk.faults.free = Number.POSITIVE_INFINITY;
      return Promise.all([file.append("fourth\n"), file.append("fifth\n")]);
    });
    const third = file.append("third\n").catch((error) => error.code);
    expect(await after).to.deep.equal([6, 13]);
    expect(await third).to.equal("ledger_unavailable");
    expect(readFileSync(filePath, "latin1")).to.equal("first\nfourth\nfifth\n");
    await file.close();
  });

  it("has exactly the acknowledged entries after any sequence of full and free disks", async () => {
    let n = 0;
    let settled = 0;
    const step = fc.record({
      appends: fc.integer({ min: 1, max: 6 }),
      free: fc.integer({ min: 0, max: 3000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        for (const { appends, free } of steps) {
          faults.free = free;
          const outcomes = await Promise.all(Array.from({ length: appends }, () => outcome(append(n++))));
          settled += outcomes.filter((one) => one === "settled").length;
        }
        await expectWhole(settled);
      }),
      { numRuns: 25 },
    );
    expect(settled).to.be.greaterThan(0);
  });
});
