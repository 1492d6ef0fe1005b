import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { Command } from "commander";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { registerVerifyLedger, verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";

const vector = (name: string) => fileURLToPath(new URL(`../vectors/${name}`, import.meta.url));

describe("tallystick verify-ledger", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-verify-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function write(text: string): string {
    const file = path.join(folder, "ledger.jsonl");
    writeFileSync(file, text, "utf8");
    return file;
  }

  function ledger(count: number): string[] {
    let parentHash = GENESIS_HASH;
    return Array.from({ length: count }, (_, i) => {
      const payload = { type: "settlement", data_update: { i: BigInt(i), text: "caf\u00e9" } };
      const entry = sealEntry({ timestamp: 1767225600.5 + i, taskId: `task-${i}`, parentHash, payload });
      parentHash = entry.currentHash;
      return entryLine(entry);
    });
  }

  async function badLine(text: string): Promise<LedgerLineError> {
    const result = await verifyLedgerFile(write(text));
    expect(result).to.be.instanceOf(LedgerLineError);
    return result as LedgerLineError;
  }

  /** Runs the command in this process, and gives its exit code and what it printed. */
  async function run(...args: string[]): Promise<{ code: number; out: string }> {
    const write = process.stdout.write;
    const exitCode = process.exitCode;
    let out = "";
    process.stdout.write = ((text: string) => {
      out += text;
      return true;
    }) as typeof process.stdout.write;
    try {
      process.exitCode = 0;
      const program = new Command();
      registerVerifyLedger(program);
      await program.parseAsync(["verify-ledger", ...args], { from: "user" });
      return { code: Number(process.exitCode), out };
    } finally {
      process.stdout.write = write;
      process.exitCode = exitCode;
    }
  }

  it("exits 0 and prints entry count, head and root of a good ledger", async () => {
    const lines = ledger(3);
    const file = write(lines.map((line) => `${line}\n`).join(""));
    const { code, out } = await run(file);
    expect(code).to.equal(0);
    const head = JSON.parse(lines[2]!).current_hash;
    expect(out).to.match(
      new RegExp(
        `verifies\\.\nentries 3\nhead    ${head}\nroot    0x[0-9a-f]{64}\nlayout  every line is in canonical layout\n$`,
      ),
    );
  });

  it("exits 1 and names the first bad line and the reason, also as JSON", async () => {
    const lines = ledger(4);
    const file = write(`${lines.with(1, lines[1]!.replace('"i": 1', '"i": 2')).join("\n")}\n`);
    const { code, out } = await run(file);
    expect(code).to.equal(1);
    expect(out).to.match(
      /does not verify\.\nline 2: current_hash is [0-9a-f]{64}, but the entry hashes to [0-9a-f]{64}\n$/,
    );
    const json = await run("--json", file);
    expect(json.code).to.equal(1);
    expect(JSON.parse(json.out)).to.include({ file, valid: false, line: 2 });
  });

  it("prints one line of JSON on request", async () => {
    const { code, out } = await run(vector("python-ledger.jsonl"), "--json");
    expect(code).to.equal(0);
    expect(JSON.parse(out)).to.include({ valid: true, entries: 6 });
    expect(out.trimEnd()).not.to.contain("\n");
  });

  it("accepts a ledger that Python wrote, with sorted keys or not, with the same head and root", async () => {
    const results = await Promise.all(
      ["python-ledger.jsonl", "python-ledger-unsorted.jsonl"].map((name) => verifyLedgerFile(vector(name))),
    );
    for (const result of results) {
      if (result instanceof LedgerLineError) throw result;
      const { otherLayouts: _, ...content } = result;
      expect({ ...content, root: toHex(result.root) }).to.deep.equal({
        size: 6,
        head: JSON.parse(readFileSync(vector("python-ledger.jsonl"), "utf8").trimEnd().split("\n").at(-1)!)
          .current_hash,
        root: toHex((results[0] as { root: Uint8Array }).root),
      });
    }
  });

  it("names the line after one changed character at any place", async () => {
    const lines = ledger(6);
    const text = lines.map((line) => `${line}\n`).join("");
    for (let at = 0; at < text.length; at += 41) {
      if (text[at] === "\n") continue;
      const changed = text.slice(0, at) + (text[at] === "x" ? "y" : "x") + text.slice(at + 1);
      expect((await badLine(changed)).line, `character ${at}`).to.equal(text.slice(0, at).split("\n").length);
    }
  });

  it("reports lines in other layouts separately, and verifies their content", async () => {
    const lines = ledger(1_015).map((line) => line.replaceAll(", ", ","));
    const { code, out } = await run(write(`${lines.join("\n")}\n`));
    expect(code).to.equal(0);
    expect(out).to.match(/verifies\.\nentries 1015\n/);
    expect(out).to.match(
      /layout {2}1,015 entries verify; 1,015 lines are not in canonical layout \(the first is line 1\)\n$/,
    );
    const [first, second, third] = ledger(3);
    const mixed = `${first}\n${second!.replace("\\u00e9", "\u00e9")}\r\n${third}\n`;
    const json = await run("--json", write(mixed));
    expect(JSON.parse(json.out)).to.deep.include({ valid: true, otherLayouts: { count: 1, firstLine: 2 } });
    const tampered = await run(write(mixed.replace('"i": 1', '"i": 7')));
    expect(tampered.code).to.equal(1);
    expect(tampered.out).to.match(/\nline 2: current_hash is .* hashes to [0-9a-f]{64}\n$/);
    expect(tampered.out).not.to.match(/layout/);
  });

  it("treats carriage returns and a byte order mark as layout", async () => {
    const lines = ledger(3);
    const dos = `\ufeff${lines.join("\r\n")}\r\n`;
    const result = await verifyLedgerFile(write(dos));
    expect(result).to.deep.include({ size: 3, otherLayouts: { count: 3, firstLine: 1 } });
  });

  it("gives up on a line that is longer than the memory allows", async () => {
    const file = path.join(folder, "endless.jsonl");
    writeFileSync(file, "");
    truncateSync(file, 200 << 20);
    const result = await verifyLedgerFile(file);
    expect(result).to.be.instanceOf(LedgerLineError).with.property("reason", "it is too long for an entry");
  });

  it("names a line that was joined, split, emptied or written with other bytes", async () => {
    const lines = ledger(3);
    expect((await badLine(`${lines[0]}${lines[1]}\n${lines[2]}\n`)).line).to.equal(1);
    expect((await badLine(`${lines[0]}\n${lines[1]!.replace(", ", ",\n")}\n`)).line).to.equal(2);
    expect((await badLine(`${lines[0]}\n\n${lines[1]}\n`)).line).to.equal(2);
    expect((await badLine(`${lines[0]}\n\ufeff${lines[1]}\n`)).line).to.equal(2);
  });

  it("distinguishes a torn last line from a changed one", async () => {
    const lines = ledger(3);
    const torn = await badLine(`${lines[0]}\n${lines[1]}\n${lines[2]!.slice(0, 200)}`);
    expect([torn.line, torn.reason.startsWith("the last line is cut off")]).to.deep.equal([3, true]);
    const changed = await badLine(`${lines[0]}\n${lines[1]}\n${lines[2]!.replace('"i": 2', '"i": 3')}`);
    expect(changed.reason).to.match(/^current_hash is /);
  });

  it("accepts a last line without newline, and an empty ledger", async () => {
    expect(await verifyLedgerFile(write(ledger(2).join("\n")))).to.include({ size: 2 });
    expect(await verifyLedgerFile(write(""))).to.include({ size: 0, head: GENESIS_HASH });
  });

  it("gives advice about a file that it cannot read", async () => {
    for (const file of [path.join(folder, "nothing.jsonl"), folder]) {
      await verifyLedgerFile(file).then(
        () => expect.fail("it was read"),
        (error) => expect(error).to.be.instanceOf(TallystickError).with.property("code", "unreadable_file"),
      );
    }
  });
});
