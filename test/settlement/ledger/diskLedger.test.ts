import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { GENESIS_HASH, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { LedgerLineError, verifyLedgerLines } from "tallystick-protocol/ledger/verifyLedger";
import { AppendFile } from "../../../services/settlement/ledger/appendFile.ts";
import { type Appended, DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

describe("the ledger on disk", () => {
  const folder = temporaryFolder();
  const file = () => path.join(folder.path, "ledger.jsonl");
  const open = () => DiskLedger.open({ folder: folder.path });
  const append = (ledger: DiskLedger, i: number): Appended =>
    ledger.append({
      timestamp: 1767225600 + i / 8,
      taskId: `task-${i}`,
      payload: { i: BigInt(i), text: "caf\u00e9" },
    });

  /** Writes a ledger of `count` entries and gives back its bytes. */
  async function written(count: number): Promise<Buffer> {
    const ledger = await open();
    await Promise.all(Array.from({ length: count }, (_, i) => append(ledger, i).durable));
    await ledger.close();
    return readFileSync(file());
  }

  async function refusal(action: Promise<unknown>): Promise<TallystickError> {
    try {
      await action;
    } catch (error) {
      if (error instanceof TallystickError) return error;
      throw error;
    }
    throw new Error("it was not refused");
  }

  it("begins empty, with the genesis hash as its head", async () => {
    const ledger = await open();
    expect([ledger.size, ledger.head, ledger.nextParent]).to.deep.equal([0, GENESIS_HASH, GENESIS_HASH]);
    await ledger.close();
  });

  it("has one canonical line for each entry, and verifies without the service", async () => {
    const bytes = await written(20);
    const result = await verifyLedgerLines(bytes.toString("latin1").trimEnd().split("\n"));
    const ledger = await open();
    expect(ledger.size).to.equal(20);
    expect(ledger.head).to.equal(result.head);
    expect(toHex(ledger.tree.root())).to.equal(toHex(result.root));
    expect(ledger.repair).to.equal(undefined);
    await ledger.close();
  });

  it("reports an entry only when it is on disk, but gives the next entry its place before", async () => {
    const ledger = await open();
    const [first, second] = [append(ledger, 0), append(ledger, 1)];
    expect(ledger.size).to.equal(0);
    expect(second.entry.parentHash).to.equal(first.entry.currentHash);
    expect(ledger.nextParent).to.equal(second.entry.currentHash);
    await first.durable;
    expect(ledger.size).to.be.greaterThan(0);
    expect(parseEntryLine(readFileSync(file(), "latin1").split("\n")[0]!)).to.deep.equal(first.entry);
    await second.durable;
    expect(ledger.head).to.equal(second.entry.currentHash);
    await ledger.close();
  });

  it("reports every entry once, in order, old and new ones", async () => {
    await written(3);
    const seen: [string, number][] = [];
    const ledger = await DiskLedger.open({
      folder: folder.path,
      onEntry: (entry, index) => seen.push([entry.taskId, index]),
    });
    const sizes: number[] = [];
    const stop = ledger.onGrowth((size) => sizes.push(size));
    await Promise.all([append(ledger, 3).durable, append(ledger, 4).durable]);
    stop();
    await append(ledger, 5).durable;
    expect(seen).to.deep.equal([0, 1, 2, 3, 4, 5].map((i) => [`task-${i}`, i]));
    expect(sizes).to.deep.equal([4, 5]);
    await ledger.close();
  });

  it("returns single entries and any segment, byte for byte", async () => {
    const bytes = await written(9);
    const lines = bytes.toString("latin1").split("\n").slice(0, -1);
    const ledger = await open();
    const segment = async (from: number, to: number) => {
      const pieces = [];
      for await (const piece of ledger.segment(from, to)) pieces.push(piece);
      return Buffer.concat(pieces).toString("latin1");
    };
    for (let from = 0; from <= 9; from++) {
      for (let to = from; to <= 9; to++) {
        expect(await segment(from, to)).to.equal(
          lines
            .slice(from, to)
            .map((line) => `${line}\n`)
            .join(""),
        );
      }
    }
    expect((await ledger.entry(4)).taskId).to.equal("task-4");
    await append(ledger, 9).durable;
    expect(parseEntryLine((await segment(9, 10)).trimEnd()).taskId).to.equal("task-9");
    for (const [from, to] of [
      [0, 11],
      [5, 4],
      [-1, 2],
      [0.5, 2],
    ] as const) {
      expect(() => ledger.segment(from, to)).to.throw(InvalidInputError);
    }
    expect((await refusal(ledger.entry(10))).field).to.equal("index");
    await ledger.close();
  });

  it("has only one writer at a time", async () => {
    const ledger = await open();
    expect((await refusal(open())).code).to.equal("ledger_locked");
    await ledger.close();
    await (await open()).close();
  });

  it("cuts a torn last line at any place, stores the cut bytes, and continues from the line before", async () => {
    const bytes = await written(3);
    const lastLine = bytes.lastIndexOf("\n", bytes.length - 2) + 1;
    for (let length = lastLine + 1; length < bytes.length - 1; length += 7) {
      writeFileSync(file(), bytes.subarray(0, length));
      const ledger = await open();
      expect(ledger.repair).to.deep.equal({ kind: "cut", line: 3, bytes: length - lastLine });
      expect(ledger.size).to.equal(2);
      expect(readFileSync(file())).to.deep.equal(bytes.subarray(0, lastLine));
      await append(ledger, 2).durable;
      await ledger.close();
      expect(readFileSync(file())).to.deep.equal(bytes);
    }
    expect(readFileSync(path.join(folder.path, "ledger.torn"), "latin1")).to.contain('{"current_hash"');
  });

  it("cuts a last line of zeros, as a file system leaves them after a power failure", async () => {
    const bytes = await written(2);
    appendFileSync(file(), Buffer.alloc(300));
    const ledger = await open();
    expect(ledger.repair).to.deep.equal({ kind: "cut", line: 3, bytes: 300 });
    await ledger.close();
    expect(readFileSync(file())).to.deep.equal(bytes);
  });

  it("completes a last line that lacks only its newline, because it may have been acknowledged", async () => {
    const bytes = await written(3);
    truncateSync(file(), bytes.length - 1);
    const ledger = await open();
    expect(ledger.repair).to.deep.equal({ kind: "completed", line: 3, bytes: 1 });
    expect(ledger.size).to.equal(3);
    await append(ledger, 3).durable;
    expect(await ledger.verify()).to.have.property("size", 4);
    await ledger.close();
  });

  it("does not start with any other wrong line: it names the line and changes nothing", async () => {
    const bytes = await written(4);
    const lines = bytes.toString("latin1").split("\n").slice(0, -1);
    const wrong: [number, string[]][] = [
      [2, lines.with(1, lines[1]!.replace('"i": 1', '"i": 7'))],
      [2, lines.with(1, lines[1]!.slice(0, -5))],
      [3, lines.toSpliced(2, 1)],
      [3, lines.with(2, "")],
      [4, lines.with(3, lines[3]!.replace('"i": 3', '"i": 4'))],
      [4, lines.with(3, lines[3]!.slice(0, -9))],
      [5, [...lines, lines[3]!]],
    ];
    for (const [line, content] of wrong) {
      const text = content.map((one) => `${one}\n`).join("");
      writeFileSync(file(), text, "latin1");
      const error = await refusal(open());
      expect(error).to.be.instanceOf(LedgerLineError).with.property("line", line);
      expect(readFileSync(file(), "latin1")).to.equal(text);
    }
    // The same is true if a forger also removed the newline, because a whole JSON line is not torn.
    writeFileSync(file(), lines.with(3, lines[3]!.replace('"i": 3', '"i": 4')).join("\n"), "latin1");
    expect(await refusal(open())).to.have.property("line", 4);
    expect(existsSync(path.join(folder.path, "ledger.torn"))).to.equal(false);
  });

  it("finds every change of its file on request", async () => {
    const bytes = await written(5);
    const ledger = await open();
    expect((await ledger.verify()).size).to.equal(5);
    const changed = bytes.toString("latin1").replace('"i": 2', '"i": 9');
    writeFileSync(file(), changed, "latin1");
    expect(await refusal(ledger.verify())).to.have.property("line", 3);
    truncateSync(file(), bytes.indexOf("\n") + 1);
    expect(await refusal(ledger.verify())).to.have.property("line", 2);
    await ledger.close();
  });

  it("finds a valid history that differs from its own", async () => {
    await written(3);
    const ledger = await open();
    const other = await DiskLedger.open({ folder: path.join(folder.path, "other") });
    for (let i = 0; i < 3; i++) {
      await other.append({
        timestamp: 1767225600 + i / 8,
        taskId: `task-${i}`,
        payload: { i: BigInt(i), text: "\u00e9fac" },
      }).durable;
    }
    await other.close();
    writeFileSync(file(), readFileSync(path.join(folder.path, "other", "ledger.jsonl")));
    expect(await refusal(ledger.verify())).to.have.property(
      "reason",
      "the entry is not the one that was settled",
    );
    await ledger.close();
  });

  it("writes many entries in the order of their arrival", async () => {
    const ledger = await open();
    const order: number[] = [];
    const appended = Array.from({ length: 2000 }, (_, i) => append(ledger, i));
    await Promise.all(appended.map(({ durable, index }) => durable.then(() => order.push(index))));
    expect(order).to.deep.equal(Array.from({ length: 2000 }, (_, i) => i));
    await ledger.close();
    expect(statSync(file()).size).to.be.greaterThan(0);
    const reopened = await open();
    expect(reopened.size).to.equal(2000);
    await reopened.close();
  });

  it("finishes running writes when it closes, and accepts nothing after that", async () => {
    const ledger = await open();
    const { durable } = append(ledger, 0);
    await ledger.close();
    await durable;
    expect((await refusal(append(ledger, 1).durable)).code).to.equal("ledger_unavailable");
    const reopened = await open();
    expect(reopened.size).to.equal(1);
    await reopened.close();
  });

  // `/dev/full` is a device that is always full. Not every system has it.
  if (existsSync("/dev/full")) {
    it("refuses entries that do not fit on a full device, one after the other", async () => {
      const failures: Error[] = [];
      const onFailure = (error: Error) => failures.push(error);
      const full = await AppendFile.open({ filePath: "/dev/full", onFailure });
      const [first, second] = [full.append("a\n"), full.append("b\n")];
      expect((await refusal(first)).code).to.equal("ledger_unavailable");
      expect((await refusal(second)).message).to.contain("ENOSPC");
      expect((await refusal(full.append("c\n"))).code).to.equal("ledger_unavailable");
      expect(failures).to.have.length(0);
      await full.close();
    });
  }

  it("cuts a torn last line also if the cut bytes cannot be stored", async () => {
    const bytes = await written(2);
    appendFileSync(file(), '{"current_hash": "ab');
    // A folder with the file's name has the same effect as a full disk.
    mkdirSync(path.join(folder.path, "ledger.torn"));
    const ledger = await open();
    expect(ledger.repair).to.include({ kind: "cut", line: 3 });
    await ledger.close();
    expect(readFileSync(file()).equals(bytes)).to.equal(true);
  });
});
